"""The JSON Schema of a configuration, from the contract and its comments.

`python -m kernel.wire.config_schema` prints it; `docs/config.schema.json` is that text.
"""

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2

ROOT = "stemma.kernel.v1.Config"
_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS: dict[int, dict[str, Any]] = {
    _Field.TYPE_STRING: {"type": "string"},
    _Field.TYPE_BOOL: {"type": "boolean"},
    _Field.TYPE_DOUBLE: {"type": "number"},
    _Field.TYPE_INT32: {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    # Text, for readers whose numbers are doubles; a number is taken, too.
    _Field.TYPE_INT64: {"type": ["string", "integer"], "pattern": "^-?[0-9]{1,19}$"},
}
# Location paths in a file: (message_type, i, field, j) and (enum_type, i, value, j).
_MESSAGE, _ENUM, _MEMBER = 4, 5, 2


def config_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of stemma.kernel.v1.Config as proto JSON writes it: every field described by
    its comment, and none besides them."""
    files = descriptor_pb2.FileDescriptorSet.FromString(
        resources.files("stemma").joinpath("descriptors.binpb").read_bytes()
    )
    known = _Contract(files)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stemma configuration",
        **known.message(ROOT),
    }
    return {**schema, "$defs": dict(sorted(known.defs.items()))}


def schema_text() -> str:
    """The schema as it is kept in docs/."""
    return json.dumps(config_schema(), indent=2, ensure_ascii=False) + "\n"


class _Contract:
    """The messages and enums of the contract by full name, and the definitions referred to so far."""

    def __init__(self, files: descriptor_pb2.FileDescriptorSet) -> None:
        self.defs: dict[str, Any] = {}
        self._messages: dict[str, descriptor_pb2.DescriptorProto] = {}
        self._enums: dict[str, descriptor_pb2.EnumDescriptorProto] = {}
        self._comments: dict[str, str] = {}
        for file in files.file:
            prefix = f"{file.package}."
            self._messages |= {prefix + message.name: message for message in file.message_type}
            self._enums |= {prefix + enum.name: enum for enum in file.enum_type}
            self._comments |= dict(_comments(file))

    def message(self, name: str) -> dict[str, Any]:
        return {
            "type": "object",
            **self._described(name),
            "properties": {f.json_name: self._field(name, f) for f in self._messages[name].field},
            "additionalProperties": False,
        }

    def _described(self, name: str) -> dict[str, Any]:
        return {"description": self._comments[name]} if name in self._comments else {}

    def _field(self, owner: str, field: descriptor_pb2.FieldDescriptorProto) -> dict[str, Any]:
        schema = self._single(field)
        if field.label == _Field.LABEL_REPEATED:
            schema = {"type": "array", "items": schema}
        if field.options.debug_redact:
            schema["writeOnly"] = True
        described = self._described(f"{owner}.{field.name}")
        if described.get("description", "").startswith("Output only"):
            schema["readOnly"] = True
        return schema | described

    def _single(self, field: descriptor_pb2.FieldDescriptorProto) -> dict[str, Any]:
        if field.type not in (_Field.TYPE_MESSAGE, _Field.TYPE_ENUM):
            return dict(_SCALARS[field.type])
        full_name = field.type_name.removeprefix(".")
        name = full_name.rpartition(".")[2]
        if name not in self.defs:
            is_enum = field.type == _Field.TYPE_ENUM
            self.defs[name] = self._enum(full_name) if is_enum else self.message(full_name)
        return {"$ref": f"#/$defs/{name}"}

    def _enum(self, name: str) -> dict[str, Any]:
        values = [value.name for value in self._enums[name].value]
        said = [
            f"{value}: {self._comments[key]}"
            for value in values
            if (key := f"{name}.{value}") in self._comments
        ]
        text = " ".join([self._comments.get(name, ""), *said]).strip()
        return {"type": "string", "enum": values, **({"description": text} if text else {})}


def _comments(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """(full name, comment) of the file's messages, enums and their members."""
    for location in file.source_code_info.location:
        path = location.path
        if len(path) not in (2, 4) or path[0] not in (_MESSAGE, _ENUM) or not location.leading_comments:
            continue
        owner: Any = (file.message_type if path[0] == _MESSAGE else file.enum_type)[path[1]]
        names = [file.package, owner.name]
        if len(path) == 4:
            if path[2] != _MEMBER:
                continue
            names.append((owner.field if path[0] == _MESSAGE else owner.value)[path[3]].name)
        yield ".".join(names), " ".join(location.leading_comments.split())


if __name__ == "__main__":
    print(schema_text(), end="")
