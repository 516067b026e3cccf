"""Where a request says what it is about."""

from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.message import Message

from kernel.errors import invalid
from kernel.rpc.checks import uuid_field
from kernel.verbs.access import KINDS, Rule


def targets(rule: Rule, request: Message, project: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """(kind, id) of everything that the request names, as the rule lists it; `project` makes an id of what
    stands in a field for a project. Without anything: the default project, where the rule says so.

    Raises Invalid for an id that is none, as its handler would, and for a request without any that needs one.
    """
    found = False
    for path in rule.targets:
        given = _value(request, path)
        if given:
            found = True
            yield _target(path, given, project)
    if not found and rule.default:
        yield "project", project("")
    elif not found and rule.targets and rule.needs in _NEEDS_ONE:
        raise invalid(rule.targets[0], "is required")


_NEEDS_ONE = frozenset({"observer", "contributor", "owner"})


def _target(path: str, given: str, project: Callable[[str], str]) -> tuple[str, str]:
    kind = KINDS[path.rpartition(".")[2]]
    if kind == "project":
        return kind, project(given)
    return kind, uuid_field(given, path)


def _value(request: Message, path: str) -> str:
    value: Any = request
    for name in path.split("."):
        value = getattr(value, name)
    return str(value)
