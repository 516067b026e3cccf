"""Update masks, and pages of resources that carry configuration."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from google.protobuf.message import Message
from stemma.kernel.v1 import config_pb2

from conversation_service.app.changes import Change
from kernel.errors import Invalid, invalid
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import text_field
from kernel.wire.config import OUTPUT_ONLY
from kernel.wire.requests import config_of

MAX_TITLE = 500
_MAX_PATHS = 200
_PAGE_BYTES = 3 * 1024 * 1024
_ROUND = 50

Item = TypeVar("Item")
Shown = TypeVar("Shown", bound=Message)


def change_of(request: Any, resource: Any, providers: Providers, call: Call) -> Change:
    """The change that an update asks for; `resource` is what it changes, as answers show it."""
    paths = request.update_mask.paths
    if not any(paths):
        raise invalid("update_mask", "is required: title, config, or paths in config")
    if len(paths) > _MAX_PATHS:
        raise invalid("update_mask", f"has at most {_MAX_PATHS} paths")
    if request.expected_version < 0:
        raise invalid("expected_version", "must not be negative")
    named = [_named(path, resource) for path in paths]
    title = text_field(request.title, "title", maximum=MAX_TITLE)
    return Change(
        title if "title" in named else None,
        config_of(request.config, "config", providers, call),
        [path.removeprefix("config").removeprefix(".") for path in named if path != "title"],
        request.expected_version,
    )


def _named(path: str, resource: Any) -> str:
    """The path in proto names, from either spelling."""
    first, *rest = path.split(".")
    if first == "title" and not rest:
        return path
    if first != "config":
        known = any(first in (field.name, field.json_name) for field in resource.fields)
        raise _bad("names a field that only the server sets" if known else "names a field that there is not")
    names = ["config"]
    descriptor: Any = config_pb2.Config.DESCRIPTOR
    for step in rest:
        if descriptor is None:
            raise _bad("names a part of a value: name the whole of it")
        field = next((f for f in descriptor.fields if step in (f.name, f.json_name)), None)
        if field is None:
            raise _bad("names a field that there is not")
        if field.name in OUTPUT_ONLY:
            raise _bad("names a field that only the server sets")
        names.append(field.name)
        descriptor = None if field.is_repeated else field.message_type
    return ".".join(names)


def _bad(why: str) -> Invalid:
    return invalid("update_mask", why)


async def page_of(
    size: int,
    last: Any,
    fetch: Callable[[Any, int], Awaitable[Sequence[Item]]],
    key: Callable[[Item], Any],
    show: Callable[[Item], Shown],
) -> tuple[list[Shown], Any]:
    """At most `size` items and 3 MiB, from after `last` on, and the key to go on from; None at the end.

    `fetch(last, limit)` gives the next ones. They are read in small rounds: each can be 1 MiB.
    """
    shown: list[Shown] = []
    used = 0
    while len(shown) < size:
        wanted = min(_ROUND, size - len(shown))
        found = await fetch(last, wanted + 1)
        for item in found[:wanted]:
            message = show(item)
            used += message.ByteSize()
            if used > _PAGE_BYTES and shown:
                return shown, last
            shown.append(message)
            last = key(item)
        if len(found) <= wanted:
            return shown, None
    return shown, last
