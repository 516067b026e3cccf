"""From a method and a raw path to a binding.

Paths are split first and percent-decoded after that, segment by segment, so that nothing encoded can
make or unmake a segment. Values hold neither slash nor colon, and are printable ASCII. There are no
redirects.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from gateway.errors import Refusal, invalid, malformed, no_such_path
from gateway.services import Binding
from kernel.errors import Violation

_VARIABLE = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_VALUE = re.compile(r"[ -~]+")


@dataclass(frozen=True, slots=True)
class Template:
    """A path template. A segment is a literal, or the name of a variable in `names` at its index."""

    literals: tuple[str | None, ...]
    names: tuple[str | None, ...]
    verb: str

    @classmethod
    def parse(cls, text: str) -> "Template":
        """ValueError for forms that the contract does not use (`*`, nested fields, patterns)."""
        path, _, verb = text.partition(":")
        if not path.startswith("/") or ":" in verb:
            raise ValueError(f"not a path template: {text}")
        segments = path[1:].split("/")
        names = tuple(match[1] if (match := _VARIABLE.fullmatch(one)) else None for one in segments)
        literals = tuple(None if name else segment for name, segment in zip(names, segments, strict=True))
        if any(one is not None and not re.fullmatch(r"[A-Za-z0-9]+", one) for one in literals):
            raise ValueError(f"not a path template: {text}")
        return cls(literals, names, verb)

    @property
    def shape(self) -> tuple[tuple[str | None, ...], str]:
        """Equal for templates that match the same paths."""
        return self.literals, self.verb

    def matches(self, segments: list[str]) -> bool:
        return len(segments) == len(self.literals) and all(
            literal in {None, segment} for literal, segment in zip(self.literals, segments, strict=True)
        )

    def values(self, segments: list[str]) -> dict[str, str]:
        pairs = zip(self.names, segments, strict=True)
        return {name: _value(name, segment) for name, segment in pairs if name is not None}


class Table:
    """Every binding. ValueError when two claim one method and path."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self._entries: list[tuple[Template, dict[str, tuple[Template, Binding]]]] = []
        shapes: dict[object, dict[str, tuple[Template, Binding]]] = {}
        for binding in bindings:
            template = Template.parse(binding.template)
            if template.shape not in shapes:
                shapes[template.shape] = {}
                self._entries.append((template, shapes[template.shape]))
            methods = shapes[template.shape]
            if binding.http_method in methods:
                raise ValueError(f"two bindings for {binding.http_method} {binding.template}")
            methods[binding.http_method] = (template, binding)
        # A literal wins over a variable in the same place.
        self._entries.sort(key=lambda entry: [literal is None for literal in entry[0].literals])

    def match(self, method: str, raw_path: bytes) -> tuple[Binding, dict[str, str]]:
        """The binding, and the path's values by field name. Refusals: 404 for an unknown path, 405
        with Allow, 400 for a value that no id could have."""
        segments, verb = _split(raw_path.decode("ascii", errors="replace"))
        for template, methods in self._entries:
            if template.verb == verb and template.matches(segments):
                if method not in methods:
                    raise _not_allowed(methods)
                # The shape is shared; the variables' names may differ by method.
                own, binding = methods[method]
                return binding, own.values(segments)
        raise no_such_path()


def _split(path: str) -> tuple[list[str], str]:
    """The segments, still encoded, and the custom verb. A verb follows the last colon of the last
    segment; an earlier colon stays in its value, which is then refused."""
    # A trailing slash makes another path; and `http://…` (the absolute form) is not ours to serve.
    if not path.startswith("/") or path.endswith("/"):
        raise no_such_path()
    segments = path[1:].split("/")
    last, colon, verb = segments[-1].rpartition(":")
    if colon:
        segments[-1] = last
        if not verb:
            raise no_such_path()
    return segments, verb if colon else ""


def _value(name: str, segment: str) -> str:
    fault = invalid(Violation(name, "is not a value that a path can hold"))
    if _BAD_ESCAPE.search(segment):
        raise fault
    try:
        value = unquote_to_bytes(segment).decode("ascii")
    except UnicodeDecodeError:
        raise fault from None
    if not _VALUE.fullmatch(value) or value in {".", ".."} or "/" in value or ":" in value or "\\" in value:
        raise fault
    return value


def _not_allowed(methods: Mapping[str, object]) -> Refusal:
    allow = ", ".join(sorted(methods))
    return malformed(f"This path takes {allow}.", http=405, headers={"allow": allow})
