"""docs/config.schema.json: fresh, complete, and a valid JSON Schema that takes what the API shows."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import MessageToDict
from jsonschema import Draft202012Validator
from stemma.kernel.v1 import config_pb2

from kernel.wire.config_schema import config_schema, schema_text
from tests.projects.test_configs import FULL

KEPT = Path(__file__).parents[2] / "docs" / "config.schema.json"
SCHEMA = config_schema()


def test_the_kept_file_is_what_is_generated() -> None:
    assert KEPT.read_text(encoding="utf-8") == schema_text(), (
        "run: python -m kernel.wire.config_schema > docs/config.schema.json"
    )


def messages(descriptor: Descriptor) -> Iterator[Descriptor]:
    yield descriptor
    for field in descriptor.fields:
        if field.message_type is not None:
            yield from messages(field.message_type)


def test_every_field_is_in_it_and_described() -> None:
    for descriptor in messages(config_pb2.Config.DESCRIPTOR):
        root = descriptor is config_pb2.Config.DESCRIPTOR
        schema = SCHEMA if root else SCHEMA["$defs"][descriptor.name]
        assert list(schema["properties"]) == [field.json_name for field in descriptor.fields]
        for name, one in schema["properties"].items():
            described = (
                one.get("description") or SCHEMA["$defs"][one["$ref"].rpartition("/")[2]]["description"]
            )
            assert described, name


def test_it_takes_what_the_api_shows() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    shown = MessageToDict(config_pb2.Config(**FULL, cleared=["tools"]))
    Draft202012Validator(SCHEMA).validate(shown)
    Draft202012Validator(SCHEMA).validate({})


@pytest.mark.parametrize(
    "config",
    [
        {"system_prompt": "x"},
        {"systemPrompt": 1},
        {"nothing": 1},
        {"model": {"temperature": "hot"}},
        {"greetings": "hi"},
        {"memoryPolicy": {"mode": "AUTO"}},
        {"model": {"seed": "1.5"}},
    ],
)
def test_it_refuses_what_is_none(config: dict[str, Any]) -> None:
    assert not Draft202012Validator(SCHEMA).is_valid(json.loads(json.dumps(config)))
