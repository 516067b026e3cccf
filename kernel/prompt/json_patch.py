"""RFC 6902, JSON Patch, on values; and what is different between two of them. Pure.

Values are those of `kernel.strict_json`: integers exact, no NaN. Unlike Python's own comparison, `test` holds
a boolean for no number, as the RFC asks.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from kernel.strict_json import NotJson, dumps, loads

MAX_OPERATIONS = 256
MAX_BYTES = 256 * 1024
# With their one other member, if they have one.
_OPERATIONS = {
    "add": "value",
    "replace": "value",
    "test": "value",
    "remove": "",
    "move": "from",
    "copy": "from",
}

Pointer = tuple[str, ...]


class BadPatch(ValueError):
    """The text is no patch. `index` is the operation at fault, -1 for the whole."""

    def __init__(self, why: str, index: int = -1) -> None:
        super().__init__(why)
        self.why = why
        self.index = index


class DoesNotApply(ValueError):
    """A `test` fails, or an operation's place is not there: the document is not what the patch was written
    for."""

    def __init__(self, why: str, index: int) -> None:
        super().__init__(why)
        self.why = why
        self.index = index


@dataclass(frozen=True, slots=True)
class Operation:
    op: str
    path: Pointer
    value: Any = None
    source: Pointer = ()


def operations(text: str) -> list[Operation]:
    """The operations of a patch, 1 to 256 of them. Raises BadPatch, with a sentence for whoever wrote it."""
    if len(text.encode()) > MAX_BYTES:
        raise BadPatch("has at most 256 KiB")
    try:
        found = loads(text)
    except NotJson as error:
        raise BadPatch(str(error)) from None
    if not isinstance(found, list):
        raise BadPatch("is a list of operations")
    if not 1 <= len(found) <= MAX_OPERATIONS:
        raise BadPatch(f"has 1 to {MAX_OPERATIONS} operations")
    return [_operation(index, one) for index, one in enumerate(found)]


def _operation(index: int, found: object) -> Operation:
    if not isinstance(found, dict):
        raise BadPatch("an operation is an object", index)
    op = found.get("op")
    if not isinstance(op, str) or op not in _OPERATIONS:
        raise BadPatch(f"`op` is one of {', '.join(_OPERATIONS)}", index)
    needed = _OPERATIONS[op]
    if needed and needed not in found:
        raise BadPatch(f"`{op}` needs `{needed}`", index)
    path = _pointer(found.get("path"), "path", index)
    source = _pointer(found["from"], "from", index) if needed == "from" else ()
    if op == "move" and path[: len(source)] == source and path != source:
        raise BadPatch("nothing is moved into itself", index)
    return Operation(op, path, found.get("value") if needed == "value" else None, source)


def _pointer(text: object, name: str, index: int) -> Pointer:
    """RFC 6901: `~1` is a slash and `~0` a tilde, in that order."""
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise BadPatch(f"`{name}` is a JSON pointer: /model/temperature", index)
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def applied(document: Any, patch: Sequence[Operation]) -> Any:
    """The document with all operations done in their order; the given one stays. Raises DoesNotApply."""
    # A root of its own, so that the whole document has a place like any other.
    root = {"": deepcopy(document)}
    for index, one in enumerate(patch):
        try:
            _DO[one.op](root, one)
        except _NotThere as error:
            raise DoesNotApply(f"`{one.op}` at {pointer_text(one.path)}: {error}", index) from None
    return root[""]


class _NotThere(Exception):
    pass


def _get(root: Any, pointer: Pointer) -> Any:
    value = root[""]
    for step in pointer:
        value = value[_key(value, step)]
    return value


def _key(holder: Any, step: str) -> str | int:
    """Of a member that is there."""
    if isinstance(holder, dict) and step in holder:
        return step
    if isinstance(holder, list):
        index = _index(step)
        if index < len(holder):
            return index
    raise _NotThere("there is nothing there")


def _index(step: str) -> int:
    if not (step.isascii() and step.isdigit()) or (len(step) > 1 and step[0] == "0") or len(step) > 9:
        raise _NotThere("a place in a list is a number without leading zeros")
    return int(step)


def _holder(root: Any, pointer: Pointer) -> tuple[Any, str]:
    return (_get(root, pointer[:-1]), pointer[-1]) if pointer else (root, "")


def _add(root: Any, pointer: Pointer, value: Any) -> None:
    holder, step = _holder(root, pointer)
    if isinstance(holder, dict):
        holder[step] = value
    elif isinstance(holder, list):
        index = len(holder) if step == "-" else _index(step)
        if index > len(holder):
            raise _NotThere(f"the list has {len(holder)} items")
        holder.insert(index, value)
    else:
        raise _NotThere("what is above it is no object and no list")


def _remove(root: Any, pointer: Pointer) -> Any:
    holder, step = _holder(root, pointer)
    return holder.pop(_key(holder, step))


def _replace(root: Any, one: Operation) -> None:
    holder, step = _holder(root, one.path)
    holder[_key(holder, step)] = deepcopy(one.value)


def _test(root: Any, one: Operation) -> None:
    if not same(_get(root, one.path), one.value):
        raise _NotThere("the value is another")


def _move(root: Any, one: Operation) -> None:
    _add(root, one.path, _remove(root, one.source))


_DO: dict[str, Callable[[Any, Operation], object]] = {
    "add": lambda root, one: _add(root, one.path, deepcopy(one.value)),
    "remove": lambda root, one: _remove(root, one.path),
    "replace": _replace,
    "move": _move,
    "copy": lambda root, one: _add(root, one.path, deepcopy(_get(root, one.source))),
    "test": _test,
}


def same(left: Any, right: Any) -> bool:
    """Equal as JSON: 1 and 1.0 are, 1 and true are not, members have no order."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def pointer_text(pointer: Pointer) -> str:
    return "".join("/" + step.replace("~", "~0").replace("/", "~1") for step in pointer) or "the whole"


def changes(before: Any, after: Any, at: Pointer = ()) -> Iterator[tuple[Pointer, str, str]]:
    """Where two values differ: (place, before, after) as JSON text, "" for nothing there. Objects are gone
    into, an empty one is as none; lists are told whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from changes(before.get(key, _ABSENT), after.get(key, _ABSENT), (*at, key))
    elif isinstance(before, dict) and after is _ABSENT:
        yield from changes(before, {}, at)
    elif isinstance(after, dict) and before is _ABSENT:
        yield from changes({}, after, at)
    elif not same(before, after) and (_json(before) or _json(after)):
        yield at, _json(before), _json(after)


# As none is shown: a value that is not there, and an empty list.
_ABSENT: Any = ()


def _json(value: Any) -> str:
    return "" if value is _ABSENT or value == [] else dumps(value)
