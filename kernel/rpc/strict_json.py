"""JSON texts as the contract allows them: checked, and then kept exactly as they came."""

import json
import math
import re
from typing import NoReturn

MAX_DEPTH = 32
# Python refuses integers of more than 4,300 digits, other languages earlier; no sane number is longer.
MAX_NUMBER_LENGTH = 1_000

# A string as a whole (also one that never ends), or a bracket. Possessive: nothing is tried twice.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


class NotJson(ValueError):
    """The text is not JSON as allowed here; says why, and never quotes it."""


def check_json(text: str) -> None:
    """Accepts one JSON value whose reading loses nothing, in any language.

    Refused besides what JSON refuses: more than 32 levels, a key twice in one object, NaN and
    infinities (also by size, 1e999), numbers longer than 1,000 characters, and NUL or half a
    surrogate pair in a text. Integers are looked at as text: 2^53+1 stays what it is.
    """
    _check_depth(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_pairs,
            parse_int=_number,
            parse_float=_finite,
            parse_constant=_constant,
        )
    except json.JSONDecodeError as error:
        raise NotJson(f"is not JSON, at character {error.pos}") from None
    _check_texts(value)


def _check_depth(text: str) -> None:
    """Before any parser sees it: they recurse."""
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise NotJson(f"is nested deeper than {MAX_DEPTH} levels")
        elif token in "]}":
            depth -= 1


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotJson("has the same key twice in one object")
    return members


def _number(digits: str) -> str:
    if len(digits) > MAX_NUMBER_LENGTH:
        raise NotJson(f"has a number longer than {MAX_NUMBER_LENGTH} characters")
    return digits


def _finite(digits: str) -> str:
    if math.isinf(float(_number(digits))):
        raise NotJson("has a number that is too large")
    return digits


def _constant(_name: str) -> NoReturn:
    raise NotJson("has NaN or an infinity, which JSON does not know")


def _check_texts(value: object) -> None:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            waiting.extend(current.keys())
            waiting.extend(current.values())
        elif isinstance(current, list):
            waiting.extend(current)
        elif isinstance(current, str) and _NOT_TEXT.search(current):
            raise NotJson("has a NUL or half a surrogate pair in a text")
