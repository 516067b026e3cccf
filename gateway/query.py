"""A query string → the JSON object that would say the same, for the calls without a body."""

import re
from urllib.parse import unquote_to_bytes

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from gateway.checks import WELL_KNOWN, field_named, map_entry
from gateway.errors import Refusal, invalid, malformed
from kernel.errors import Violation

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BOOLS = {"true": True, "false": False}
_FLOATS = {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}


def split_query(raw: bytes) -> list[tuple[str, str]]:
    """Keys and values in their order. 400 for what is not `key=value&…` in percent-encoded UTF-8."""
    pairs = []
    for piece in raw.decode("ascii", errors="replace").split("&") if raw else []:
        key, equals, value = piece.partition("=")
        if not key or not equals:
            raise malformed("The query must be key=value pairs.")
        pairs.append((_unquote(key), _unquote(value)))
    return pairs


def query_object(descriptor: Descriptor, pairs: list[tuple[str, str]]) -> dict[str, object]:
    """The object, still to be checked as a body is. Nested fields by dots (`config.budget.maxInputTokens`);
    a repeated scalar by its key several times. 400 for unknown and for duplicate parameters."""
    fields: dict[str, object] = {}
    for key, text in pairs:
        inner, field, path = _find(descriptor, fields, key)
        value = _value(field, text, path)
        if field.is_repeated:
            items = inner.setdefault(field.name, [])
            assert isinstance(items, list)  # only this branch makes it
            items.append(value)
        elif field.name in inner:
            raise invalid(Violation(path, "is given twice"))
        else:
            inner[field.name] = value
    return fields


def _unquote(text: str) -> str:
    if _BAD_ESCAPE.search(text):
        raise malformed("The query is not percent-encoded UTF-8.")
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode("utf-8")
    except UnicodeDecodeError:
        raise malformed("The query is not percent-encoded UTF-8.") from None


def _find(
    descriptor: Descriptor, fields: dict[str, object], key: str
) -> tuple[dict[str, object], FieldDescriptor, str]:
    """The innermost object, the field there, and its path in proto names."""
    *outer, last = key.split(".")
    names: list[str] = []
    for name in outer:
        field = field_named(descriptor, name)
        if field is None or field.message_type is None or field.is_repeated:
            raise _unknown(key)
        if field.message_type.full_name in WELL_KNOWN:
            raise _unknown(key)
        names.append(field.name)
        inner = fields.setdefault(field.name, {})
        assert isinstance(inner, dict)  # a message is never set whole
        fields, descriptor = inner, field.message_type
    field = field_named(descriptor, last)
    if field is None or map_entry(field) is not None:
        raise _unknown(key)
    if field.message_type is not None and field.message_type.full_name not in WELL_KNOWN:
        raise _unknown(key)
    return fields, field, ".".join([*names, field.name])


def _value(field: FieldDescriptor, text: str, path: str) -> object:
    """As JSON would write it. Integers stay text, which JSON allows and `checks` reads strictly."""
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        if text not in _BOOLS:
            raise invalid(Violation(path, "must be true or false"))
        return _BOOLS[text]
    if field.cpp_type in _FLOATS:
        if not _NUMBER.fullmatch(text):
            raise invalid(Violation(path, "must be a number"))
        return float(text)
    return text


def _unknown(key: str) -> Refusal:
    return invalid(Violation(key[:64], "there is no such query parameter"))
