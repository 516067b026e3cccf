"""Parts of a JSON text, as they were written: numbers keep their digits, objects their order. Pure.

The texts are checked JSON of a bounded depth.
"""

import json
import re
from collections.abc import Sequence

_BLANK = re.compile(r"[ \t\r\n]*")
_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str)

# Where a value begins and ends, and its members: an object's by key, a list's by number.
_Node = tuple[int, int, "dict[str, _Node]"]


class Json:
    """One value, read once, however many of its parts are asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._root = _node(text, _after_blank(text, 0))

    def at(self, path: Sequence[str]) -> str | None:
        """The text of the part at a path of keys and indices; None when there is none."""
        start, end, members = self._root
        for step in path:
            if step not in members:
                return None
            start, end, members = members[step]
        return self._text[start:end]


def shown(value: str) -> str:
    """A string's characters; of anything else the JSON text."""
    return str(json.loads(value)) if value.lstrip(" \t\r\n").startswith('"') else value


def is_truthy(value: str) -> bool:
    """False for null, false, zero, and an empty string, list or object."""
    text = value.strip(" \t\r\n")
    match text[0]:
        case "t":
            return True
        case "f" | "n":
            return False
        case '"':
            return text != '""'
        case "[" | "{":
            return text[_after_blank(text, 1)] not in "]}"
        case _:
            return any(digit in "123456789" for digit in re.split("[eE]", text)[0])


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None, "the pattern matches nothing, too"
    return match.end()


def _node(text: str, at: int) -> _Node:
    opening = text[at]
    if opening not in "{[":
        _, end = _SCANNER.raw_decode(text, at)
        return at, end, {}
    members: dict[str, _Node] = {}
    here = _after_blank(text, at + 1)
    while text[here] not in "}]":
        key = str(len(members))
        if opening == "{":
            key, here = _SCANNER.raw_decode(text, here)
            # Past the colon.
            here = _after_blank(text, _after_blank(text, here) + 1)
        members[key] = _node(text, here)
        here = _after_blank(text, members[key][1])
        if text[here] == ",":
            here = _after_blank(text, here + 1)
    return at, here + 1, members
