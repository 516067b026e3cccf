"""The fields of the JSON object that a text begins with, as far as the text goes."""

import json
from dataclasses import dataclass

_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Cut:
    """A value that the text ends in, or that is no JSON: only how it `begins` is known."""

    begins: str


def first_object(text: str) -> dict[str, object]:
    """Its fields in order, the last of them perhaps `Cut`; none when the text begins with something else."""
    fields: dict[str, object] = {}
    at = _after_space(text, 0)
    if text[at : at + 1] != "{":
        return fields
    while text[at : at + 1] in ("{", ","):
        key, at = _value(text, _after_space(text, at + 1))
        at = _after_space(text, at)
        if not isinstance(key, str) or text[at : at + 1] != ":":
            break
        fields[key], at = _value(text, _after_space(text, at + 1))
        at = _after_space(text, at)
    return fields


def _value(text: str, at: int) -> tuple[object, int]:
    """The value that begins there, and where it ends."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return Cut(text[at : at + 1]), len(text)


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
