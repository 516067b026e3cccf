"""JSON from strangers: read so that nothing is lost, overwritten or made up, or refused."""

import json
import math
import re
from typing import NoReturn

MAX_DEPTH = 32
# Python refuses integers of more than 4,300 digits, other languages earlier; no sane number is longer.
MAX_NUMBER_LENGTH = 1_000
# Read into memory a value takes many times its text: `[[],[],…` twenty times.
MAX_VALUES = 2_500_000

# A bracket or the end, after strings as a whole (also one that never ends). Possessive: nothing is
# tried twice.
_BRACKET = re.compile(r'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z))*+([\[\]{}]|\Z)', re.DOTALL)
# What could turn into a NUL or half a surrogate pair; raw ones cannot stand in JSON or in UTF-8.
_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """False for text with NUL or half a surrogate pair, which no field can hold."""
    return _NOT_TEXT.search(text) is None


class NotJson(ValueError):
    """The text is not JSON as allowed here; says why, and never quotes it. `reason` is INVALID, or
    LIMIT for what is too large."""

    def __init__(self, message: str, reason: str = "INVALID") -> None:
        super().__init__(message)
        self.reason = reason


def loads(data: bytes | str, *, depth: int | None = None, texts: bool = True) -> object:
    """The value of one JSON text in UTF-8.

    Refused besides what JSON refuses: more than 32 levels, a key twice in one object, NaN and
    infinities (also by size, 1e999), numbers longer than 1,000 characters, and NUL or half a
    surrogate pair in a text, and (LIMIT) more than 2,500,000 values, counted generously by commas
    and brackets. Integers are exact. `depth` says how deep the text is nested, when
    that is known already. With `texts` off, texts that are values are left for the caller to check,
    who can say which one is at fault; keys never are.

    Raises: NotJson.
    """
    text = data if isinstance(data, str) else _decoded(data)
    if sum(map(text.count, ",[{")) > MAX_VALUES:
        raise NotJson("has too many values", "LIMIT")
    if (nesting(text) if depth is None else depth) > MAX_DEPTH:
        raise NotJson(f"is nested deeper than {MAX_DEPTH} levels")
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"is not JSON, at character {error.pos}") from None
    if _SUSPECT.search(text):
        _check_texts(value, values=texts)
    return value


def dumps(value: object) -> str:
    """One line of JSON, without spaces; text stays as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def nesting(text: str) -> int:
    """How many levels deep the brackets of a text go, strings aside."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        if bracket in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif bracket:
            depth -= 1
    return deepest


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise NotJson(f"is not UTF-8, at byte {error.start}") from None


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotJson("has the same key twice in one object")
    return members


def _integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_LENGTH:
        raise NotJson(f"has a number longer than {MAX_NUMBER_LENGTH} characters")
    return int(digits)


def _finite(digits: str) -> float:
    if len(digits) > MAX_NUMBER_LENGTH:
        raise NotJson(f"has a number longer than {MAX_NUMBER_LENGTH} characters")
    value = float(digits)
    if math.isinf(value):
        raise NotJson("has a number that is too large")
    return value


def _constant(_name: str) -> NoReturn:
    raise NotJson("has NaN or an infinity, which JSON does not know")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_integer, parse_float=_finite, parse_constant=_constant
)


def _check_texts(value: object, *, values: bool) -> None:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            if any(map(_NOT_TEXT.search, current)):
                raise NotJson("has a NUL or half a surrogate pair in a key")
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
        elif values and isinstance(current, str) and _NOT_TEXT.search(current):
            raise NotJson("has a NUL or half a surrogate pair in a text")
