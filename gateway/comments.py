"""The comments of the protos, for people who read the OpenAPI document.

The generated Python carries none; `descriptors.binpb` beside it does, when `make protos` wrote it
with --include_source_info. Without the file there are no descriptions.
"""

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2

# Field numbers in a location's path -> what they lead to. Oneofs and extensions have no schema.
_CHILDREN = {"message_type", "enum_type", "service", "field", "value", "method", "nested_type"}


def load_comments() -> Mapping[str, str]:
    """By full name (`stemma.kernel.v1.Floor.depth`): the comment before it, as one paragraph a block."""
    file = resources.files("stemma").joinpath("descriptors.binpb")
    return parse_comments(file.read_bytes()) if file.is_file() else {}


def parse_comments(descriptor_set: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set).file:
        for location in file.source_code_info.location:
            names = _names(file, location.path)
            if location.leading_comments and names:
                found[".".join([file.package, *names])] = _tidy(location.leading_comments)
    return found


def _names(node: Any, path: Sequence[int]) -> list[str]:
    """The names on the way from the file down a location's path of (field number, index) pairs; none
    when it leads to something without a schema."""
    names: list[str] = []
    for number, index in zip(path[::2], path[1::2], strict=False):
        field = node.DESCRIPTOR.fields_by_number[number]
        if field.name not in _CHILDREN:
            return []
        node = getattr(node, field.name)[index]
        names.append(node.name)
    return names


def _tidy(comment: str) -> str:
    blocks = comment.strip().split("\n\n")
    return "\n\n".join(" ".join(line.strip() for line in block.splitlines()) for block in blocks)
