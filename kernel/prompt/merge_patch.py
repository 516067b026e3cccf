"""RFC 7396, JSON Merge Patch, on texts: what is not touched stays as it was written.

Numbers keep their digits (2^53+1, 1.0, 1e2), strings their escapes, objects the order of their keys;
new keys come last. The texts are checked JSON, of a bounded depth, whose outermost value is an object.
"""

import json
import re

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)

# By key: the key as it was written, and the value: an object taken apart, or any other value's text.
_Object = dict[str, "tuple[str, _Value]"]
_Value = _Object | str
_NULL = "null"


def merge_patch(target: str, patch: str) -> str:
    """The target with the patch applied: null takes a member away, objects merge, all else replaces."""
    return _text(_merged(_parsed(target), _parsed(patch)))


def without_nulls(text: str) -> str:
    """The text applied to an empty object; exactly itself when it has nothing to take away."""
    value = _parsed(text)
    return _text(_merged({}, value)) if _has_null(value) else text


def members(text: str) -> dict[str, str]:
    """The texts of an object's members as they were written, by key, in their order."""
    found = {}
    at = _after_blank(text, _after_blank(text, 0) + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        start = _after_blank(text, _after_blank(text, end) + 1)
        _, end_of_value = _DECODER.raw_decode(text, start)
        found[key] = text[start:end_of_value]
        at = _after_blank(text, end_of_value)
        if text[at] == ",":
            at = _after_blank(text, at + 1)
    return found


def _merged(target: _Value, patch: _Value) -> _Value:
    if isinstance(patch, str):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, (name, value) in patch.items():
        if value == _NULL:
            merged.pop(key, None)
        elif key in merged:
            merged[key] = (merged[key][0], _merged(merged[key][1], value))
        else:
            merged[key] = (name, _merged({}, value))
    return merged


def _has_null(value: _Value) -> bool:
    """Whether an object has a member to take away, at any depth; lists are not looked into."""
    if isinstance(value, str):
        return False
    return any(member == _NULL or _has_null(member) for _, member in value.values())


def _text(value: _Value) -> str:
    if isinstance(value, str):
        return value
    return "{" + ",".join(f"{name}:{_text(member)}" for name, member in value.values()) + "}"


def _parsed(text: str) -> _Value:
    value, _ = _value_at(text, _after_blank(text, 0))
    return value


def _after_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None, "the pattern matches nothing, too"
    return match.end()


def _value_at(text: str, at: int) -> tuple[_Value, int]:
    """The value that begins at a position, and where it ends."""
    if text[at] != "{":
        _, end = _DECODER.raw_decode(text, at)
        return text[at:end], end
    members: _Object = {}
    at = _after_blank(text, at + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        name = text[at:end]
        # Past the colon, and past the comma after the value, if there is one.
        value, end_of_value = _value_at(text, _after_blank(text, _after_blank(text, end) + 1))
        members[key] = (name, value)
        at = _after_blank(text, end_of_value)
        if text[at] == ",":
            at = _after_blank(text, at + 1)
    return members, at + 1
