"""The OpenAPI document: valid, complete, and true to what the gateway answers."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from google.protobuf import descriptor_pb2
from openapi_spec_validator import validate

from gateway.comments import parse_comments
from gateway.openapi import document
from gateway.services import bindings

pytestmark = pytest.mark.asyncio(loop_scope="session")


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "$ref":
                yield value
            else:
                yield from references(value)
    elif isinstance(node, list):
        for one in node:
            yield from references(one)


async def test_it_is_served_and_valid(client: httpx.AsyncClient) -> None:
    answer = await client.get("/openapi.json")
    assert answer.status_code == 200
    served = answer.json()
    validate(served)
    assert served["openapi"] == "3.1.0"
    for one in references(served):
        _, section, kind, name = one.split("/")
        assert name in served[section][kind]


async def test_every_binding_is_an_operation() -> None:
    described = {
        (method.upper(), re.sub(r"\{\w+\}", "{}", path))
        for path, operations in document()["paths"].items()
        for method in operations
    }
    assert described == {(one.http_method, re.sub(r"\{\w+\}", "{}", one.template)) for one in bindings()}


async def test_names_and_types_are_those_of_the_json() -> None:
    schemas = document()["components"]["schemas"]
    floor = schemas["Floor"]["properties"]
    assert floor["pathTokens"]["type"] == "string"
    assert floor["pathTokens"]["format"] == "int64"
    assert floor["depth"]["type"] == "integer"
    assert floor["createTime"]["format"] == "date-time"
    assert schemas["Role"]["enum"][2] == "ROLE_USER"
    assert schemas["FilePart"]["properties"]["data"]["contentEncoding"] == "base64"
    assert schemas["Message"]["properties"]["metadata"]["additionalProperties"] == {"type": "string"}
    assert schemas["Page"]["properties"]["messages"]["items"] == {"$ref": "#/components/schemas/Message"}


async def test_parameters_say_where_fields_go() -> None:
    paths = document()["paths"]
    delete = paths["/v1/sessions/{sessionId}/branches/{branch}"]["delete"]["parameters"]
    assert [(one["in"], one["name"], one.get("required", False)) for one in delete] == [
        ("path", "sessionId", True),
        ("path", "branch", True),
        ("query", "requestId", False),
    ]
    create = paths["/v1/sessions"]["post"]
    assert [(one["in"], one["name"]) for one in create["parameters"]] == [
        ("query", "requestId"),
        ("header", "Idempotency-Key"),
    ]
    assert "requestBody" not in paths["/v1/sessions"]["get"]


async def test_respond_is_described_in_both_forms() -> None:
    paths = document()["paths"]
    content = paths["/v1/sessions/{sessionId}:respond"]["post"]["responses"]["200"]["content"]
    assert {kind: one["schema"]["$ref"].rsplit("/")[-1] for kind, one in content.items()} == {
        "application/json": "RespondResult",
        "text/event-stream": "RunEvent",
    }
    attach = paths["/v1/runs/{runId}/events"]["get"]["responses"]["200"]["content"]
    assert set(attach) == {"text/event-stream"}


async def test_the_comments_of_the_protos_are_its_descriptions() -> None:
    described = document()
    assert described["components"]["schemas"]["Branch"]["description"] == "A named head."
    summary = described["paths"]["/v1/sessions/{sessionId}"]["get"]["description"]
    assert "NOT_FOUND" in summary


async def test_comments_are_found_by_full_name() -> None:
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(package="p")
    message = file.message_type.add(name="Outer")
    message.field.add(name="inner")
    message.nested_type.add(name="Nested").field.add(name="deep")
    for path, text in (
        ([2], " on the package\n"),
        ([4, 0], " First line,\n second line.\n\n Another block.\n"),
        ([4, 0, 2, 0], " A field."),
        ([4, 0, 3, 0, 2, 0], " A nested field."),
        ([4, 0, 8, 0], " A oneof."),
    ):
        file.source_code_info.location.add(path=path, leading_comments=text)
    found = parse_comments(files.SerializeToString())
    assert found["p.Outer"] == "First line, second line.\n\nAnother block."
    assert (found["p.Outer.inner"], found["p.Outer.Nested.deep"]) == ("A field.", "A nested field.")
    assert "p" not in found
