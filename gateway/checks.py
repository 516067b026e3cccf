"""Whether a JSON value is, exactly, a message of a given type.

Run before json_format, which takes `[]` for a message, both spellings of one field, bad base64 and
unknown enum numbers, and whose error texts show its insides.
"""

import base64
import binascii
import math
import re
from collections.abc import Callable, Mapping

from google.protobuf import duration_pb2, timestamp_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from kernel.errors import Violation
from kernel.strict_json import is_storable

_MAX_VIOLATIONS = 20
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}|1[0-9]{19}")
# FromJsonString would take `1_000s` and digits of other scripts.
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]{1,9})?(Z|[+-][0-9:]{5})")
_DURATION = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,9})?s")
_MASK = re.compile(r"[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*(,[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*)*")

_RANGES: Mapping[int, tuple[int, int]] = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}


def check_message(descriptor: Descriptor, value: object) -> list[Violation]:
    """What is wrong with `value` as a message in JSON; empty when json_format may have it. At most
    20, by paths in proto names."""
    found: list[Violation] = []
    _Check(found).message(descriptor, value, "")
    return found[:_MAX_VIOLATIONS]


def field_named(descriptor: Descriptor, name: str) -> FieldDescriptor | None:
    """By either spelling, `floorId` or `floor_id`."""
    by_name: FieldDescriptor | None = descriptor.fields_by_name.get(name)
    if by_name is not None:
        return by_name
    return next((one for one in descriptor.fields if one.json_name == name), None)


def map_entry(field: FieldDescriptor) -> Descriptor | None:
    """The type with the key and the value of a map; None for other fields."""
    kind: Descriptor | None = field.message_type
    return kind if kind is not None and kind.GetOptions().map_entry else None


class _Check:
    """One walk over one value. Recursion is bounded by the JSON depth."""

    def __init__(self, found: list[Violation]) -> None:
        self._found = found

    def _fault(self, path: str, description: str) -> None:
        self._found.append(Violation(path or "body", description))

    def message(self, descriptor: Descriptor, value: object, path: str) -> None:
        if descriptor.full_name in WELL_KNOWN:
            self._text(WELL_KNOWN[descriptor.full_name], value, path)
        elif not isinstance(value, dict):
            self._fault(path, "must be an object")
        else:
            self._fields(descriptor, value, path)

    def _fields(self, descriptor: Descriptor, value: dict[str, object], path: str) -> None:
        seen: set[str] = set()
        for key, one in value.items():
            if len(self._found) >= _MAX_VIOLATIONS:
                return
            field = field_named(descriptor, key)
            where = f"{path}.{field.name if field else key[:64]}".lstrip(".")
            if field is None:
                self._fault(where, "there is no such field")
            elif field.name in seen:
                self._fault(where, "is given twice, under both spellings")
            else:
                seen.add(field.name)
                self._member(field, one, where, seen)

    def _member(self, field: FieldDescriptor, value: object, path: str, seen: set[str]) -> None:
        if value is None:
            # null is absence, where a field can be absent.
            if not field.has_presence:
                self._fault(path, "must not be null")
            return
        oneof = field.containing_oneof
        if oneof is not None:
            # No field of a message has a oneof's name.
            if oneof.name in seen:
                self._fault(path, f"only one of {', '.join(one.name for one in oneof.fields)} may be given")
            seen.add(oneof.name)
        self._value(field, value, path)

    def _value(self, field: FieldDescriptor, value: object, path: str) -> None:
        entry = map_entry(field)
        if entry is not None:
            self._map(entry, value, path)
        elif not field.is_repeated:
            self.single(field, value, path)
        elif not isinstance(value, list):
            self._fault(path, "must be a list")
        else:
            for index, one in enumerate(value):
                self.single(field, one, f"{path}[{index}]")

    def _map(self, entry: Descriptor, value: object, path: str) -> None:
        if not isinstance(value, dict):
            self._fault(path, "must be an object")
            return
        for key, one in value.items():
            where = f"{path}[{key[:64]}]"
            self.single(entry.fields_by_name["key"], key, where)
            self.single(entry.fields_by_name["value"], one, where)

    def single(self, field: FieldDescriptor, value: object, path: str) -> None:
        if len(self._found) >= _MAX_VIOLATIONS:
            return
        if field.message_type is not None:
            self.message(field.message_type, value, path)
        elif field.enum_type is not None:
            self._enum(field.enum_type, value, path)
        else:
            self._scalar(field, value, path)

    def _scalar(self, field: FieldDescriptor, value: object, path: str) -> None:
        kind = field.cpp_type
        if kind in _RANGES:
            self._integer(_RANGES[kind], value, path)
        elif kind == FieldDescriptor.CPPTYPE_BOOL:
            if not isinstance(value, bool):
                self._fault(path, "must be true or false")
        elif kind in {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}:
            if not _is_finite(value):
                self._fault(path, "must be a number")
        elif field.type == FieldDescriptor.TYPE_BYTES:
            self._text(_base64_fault, value, path)
        else:
            self._text(lambda _: None, value, path)

    def _integer(self, limits: tuple[int, int], value: object, path: str) -> None:
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self._fault(path, "must be an integer")
        elif not limits[0] <= value <= limits[1]:
            self._fault(path, f"must be from {limits[0]} to {limits[1]}")

    def _enum(self, enum: EnumDescriptor, value: object, path: str) -> None:
        if isinstance(value, str):
            known = value in enum.values_by_name
        else:
            known = type(value) is int and any(one.number == value for one in enum.values)
        if not known:
            self._fault(path, f"must be one of {', '.join(one.name for one in enum.values)}")

    def _text(self, fault: Callable[[str], str | None], value: object, path: str) -> None:
        if not isinstance(value, str):
            self._fault(path, "must be a string")
        elif not is_storable(value):
            self._fault(path, "must not hold NUL or a lone surrogate")
        elif (description := fault(value)) is not None:
            self._fault(path, description)


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _base64_fault(text: str) -> str | None:
    # Both alphabets, with or without padding, as proto JSON says; but nothing else.
    body = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (binascii.Error, ValueError):
        return "must be base64"
    return None if len(text) - len(body) <= 2 else "must be base64"


def _timestamp_fault(text: str) -> str | None:
    try:
        if not _TIME.fullmatch(text):
            raise ValueError
        timestamp_pb2.Timestamp().FromJsonString(text)
    except (ValueError, OverflowError):
        return "must be a time as in 2026-01-31T12:00:00Z"
    return None


def _duration_fault(text: str) -> str | None:
    try:
        if not _DURATION.fullmatch(text):
            raise ValueError
        duration_pb2.Duration().FromJsonString(text)
    except (ValueError, OverflowError):
        return "must be a duration as in 3600s"
    return None


def _mask_fault(text: str) -> str | None:
    if _MASK.fullmatch(text):
        return None
    return "must be field paths in lowerCamelCase, comma-separated"


# Messages that are a string in JSON.
WELL_KNOWN: Mapping[str, Callable[[str], str | None]] = {
    "google.protobuf.Timestamp": _timestamp_fault,
    "google.protobuf.Duration": _duration_fault,
    "google.protobuf.FieldMask": _mask_fault,
}
