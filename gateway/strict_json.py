"""JSON text → Python values, refusing what json.loads and json_format let through or break on."""

import json
import math
import re

from gateway.errors import Refusal, malformed

MAX_DEPTH = 32
# Longer than any number that a field can hold, far below the interpreter's limit for int().
_MAX_DIGITS = 400

# A whole string (or one without an end), or a bracket. Possessive, so that a string is read once.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """False for text with NUL or a lone surrogate, which no field can hold."""
    return _UNSTORABLE.search(text) is None


def parse_object(body: bytes) -> dict[str, object]:
    """A JSON object of depth 32 at most, as its author meant it: no duplicate keys, no NaN or
    Infinity, numbers that fit. An empty body is an empty object. Refuses with 400."""
    if not body:
        return {}
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise malformed("The body is not UTF-8.") from None
    _check_depth(text)
    value = _loads(text)
    if not isinstance(value, dict):
        raise malformed("The body must be a JSON object.")
    return value


def _check_depth(text: str) -> None:
    """Before json.loads, whose recursion would end in an exception at some thousand levels."""
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise malformed(f"The body is nested deeper than {MAX_DEPTH} levels.")
        elif first in "]}":
            depth -= 1


def _loads(text: str) -> object:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise malformed(f"The body is not valid JSON ({place}).") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise malformed("The body has an object with one key twice.")
    if not all(is_storable(key) for key in fields):
        raise malformed("The body has a key with NUL or a lone surrogate.")
    return fields


def _constant(_: str) -> Refusal:
    raise malformed("The body holds NaN or Infinity, which are not JSON.")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise malformed("The body has a number that is too large.")
    return value


def _int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise malformed("The body has a number that is too large.")
    return int(text)
