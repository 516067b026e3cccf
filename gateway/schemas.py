"""Descriptors → JSON Schemas, as proto JSON writes the messages."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from gateway.checks import map_entry

Schema = dict[str, Any]

_SCALARS: Mapping[int, Schema] = {
    FieldDescriptor.CPPTYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptor.CPPTYPE_UINT32: {"type": "integer", "format": "uint32", "minimum": 0},
    FieldDescriptor.CPPTYPE_INT64: {"type": "string", "format": "int64"},
    FieldDescriptor.CPPTYPE_UINT64: {"type": "string", "format": "uint64"},
    FieldDescriptor.CPPTYPE_DOUBLE: {"type": "number", "format": "double"},
    FieldDescriptor.CPPTYPE_FLOAT: {"type": "number", "format": "float"},
    FieldDescriptor.CPPTYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.CPPTYPE_STRING: {"type": "string"},
}
_WELL_KNOWN: Mapping[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": {"type": "string"},
    # The details of an error.
    "google.protobuf.Any": {
        "type": "object",
        "properties": {"@type": {"type": "string"}},
        "required": ["@type"],
    },
}


class Schemas:
    """Collects the schema of each message and enum that is referred to, by its short name. The draft service
    has messages of the same names as another: all of its names say that they are of drafts."""

    def __init__(self, comments: Mapping[str, str]) -> None:
        self.components: dict[str, Schema] = {}
        self._comments = comments
        self._owners: dict[str, str] = {}

    def describe(self, full_name: str) -> Schema:
        """`{"description": …}`, or nothing to say."""
        text = self._comments.get(full_name)
        return {"description": text} if text else {}

    def message(self, descriptor: Descriptor) -> Schema:
        """A reference. ValueError when two packages have one short name."""
        if descriptor.full_name in _WELL_KNOWN:
            return dict(_WELL_KNOWN[descriptor.full_name])
        name = _name(descriptor)
        if self._claim(name, descriptor.full_name):
            schema: Schema = {"type": "object", **self.describe(descriptor.full_name)}
            self.components[name] = schema  # before its fields: messages may recur
            schema["properties"] = {one.json_name: self.field(one) for one in descriptor.fields}
        return {"$ref": f"#/components/schemas/{name}"}

    def field(self, field: FieldDescriptor) -> Schema:
        entry = map_entry(field)
        if entry is not None:
            value = self._single(entry.fields_by_name["value"])
            schema: Schema = {"type": "object", "additionalProperties": value}
        elif field.is_repeated:
            schema = {"type": "array", "items": self._single(field)}
        else:
            schema = self._single(field)
        return {**schema, **self.describe(field.full_name)}

    def _single(self, field: FieldDescriptor) -> Schema:
        if field.message_type is not None:
            return self.message(field.message_type)
        if field.enum_type is not None:
            return self._enum(field.enum_type)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return {"type": "string", "contentEncoding": "base64"}
        return dict(_SCALARS[field.cpp_type])

    def _enum(self, enum: EnumDescriptor) -> Schema:
        name = _name(enum)
        if self._claim(name, enum.full_name):
            said = [self.describe(f"{enum.full_name}.{one.name}") for one in enum.values]
            lines = [
                f"`{one.name}`: {text['description']}"
                for one, text in zip(enum.values, said, strict=True)
                if text
            ]
            head = self.describe(enum.full_name).get("description")
            text = "\n\n".join([head, *lines] if head else lines)
            schema: Schema = {"type": "string", "enum": [one.name for one in enum.values]}
            self.components[name] = {**schema, "description": text} if text else schema
        return {"$ref": f"#/components/schemas/{name}"}

    def _claim(self, name: str, full_name: str) -> bool:
        """Whether the name is new."""
        owner = self._owners.setdefault(name, full_name)
        if owner != full_name:
            raise ValueError(f"{owner} and {full_name} would have one schema name")
        return name not in self.components


def _name(descriptor: Descriptor | EnumDescriptor) -> str:
    name: str = descriptor.name
    ours = descriptor.file.package != "stemma.draft.v1" or "Draft" in name
    return name if ours else f"Draft{name}"
