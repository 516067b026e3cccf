"""OpenAPI 3.1 for every binding, from the descriptors."""

import re
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.rpc import error_details_pb2, status_pb2
from stemma.conversation.v1 import run_service_pb2, session_service_pb2
from stemma.draft.v1 import draft_service_pb2

from gateway.checks import WELL_KNOWN
from gateway.comments import load_comments
from gateway.respond import RESPOND, RESPOND_IN_DRAFT
from gateway.schemas import Schema, Schemas
from gateway.services import IMPORT, Binding, bindings
from gateway.uploads import HEADER

_VARIABLE = re.compile(r"\{([a-z0-9_]+)\}")
# What the service says a file is.
_FILES = ("application/jsonl", "application/json")
# By RPC: what answers a caller that does not ask for a stream.
_RESULTS: dict[str, Any] = {
    RESPOND: run_service_pb2.RespondResult.DESCRIPTOR,
    RESPOND_IN_DRAFT: draft_service_pb2.RespondResult.DESCRIPTOR,
}
_IMPORTED: Any = session_service_pb2.ImportResult.DESCRIPTOR


# Either of the two; `access` off: or none.
_SECURITY: list[dict[str, list[str]]] = [{"bearer": []}, {"apiKey": []}]
_SCHEMES: dict[str, Any] = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An API key (`stk_…`), or a JWT."},
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The same, elsewhere."},
}


def document(*, access: bool = True) -> dict[str, Any]:
    """The whole document, ready for JSON. `access`: whether calls need a credential."""
    schemas = Schemas(load_comments())
    error = schemas.message(status_pb2.Status.DESCRIPTOR)
    for detail in (error_details_pb2.ErrorInfo, error_details_pb2.BadRequest, error_details_pb2.RetryInfo):
        schemas.message(detail.DESCRIPTOR)
    paths: dict[str, dict[str, Any]] = {}
    taken: set[str] = set()
    for binding in bindings():
        operation = _operation(binding, schemas)
        _name_once(operation, taken)
        operation["security"] = _SECURITY if access else [*_SECURITY, {}]
        paths.setdefault(_path(binding), {})[binding.http_method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Stemma",
            "version": "v1",
            "description": "AI conversations as trees. Errors are google.rpc.Status in JSON.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": {
                "Error": {"description": "A refusal or failure.", "content": _json(error)},
                "Unauthenticated": {
                    "description": "No valid credential, or two of them.",
                    "headers": {"WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}}},
                    "content": _json(error),
                },
            },
            "securitySchemes": _SCHEMES,
        },
    }


def _operation(binding: Binding, schemas: Schemas) -> dict[str, Any]:
    method = binding.method
    described = schemas.describe(f"{method.package}.{method.service}.{method.name}")
    if binding is IMPORT:
        parameters = _import_parameters(schemas)
    else:
        parameters = [*_path_parameters(binding, schemas), *_other_parameters(binding, schemas)]
    operation = {
        "operationId": f"{method.service}_{method.name}",
        "tags": [method.service],
        **described,
        "parameters": parameters,
        "responses": {
            "200": {"description": "The answer.", "content": _answer(binding, schemas)},
            "401": {"$ref": "#/components/responses/Unauthenticated"},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }
    if binding is IMPORT:
        operation["requestBody"] = {"content": {"application/octet-stream": {}}, "required": True}
    elif binding.body:
        body = schemas.message(method.input)
        operation["requestBody"] = {"content": _json(body)}
    return operation


def _name_once(operation: dict[str, Any], taken: set[str]) -> None:
    """A second binding of one RPC gets a number."""
    base, count = operation["operationId"], 1
    while operation["operationId"] in taken:
        count += 1
        operation["operationId"] = f"{base}{count}"
    taken.add(operation["operationId"])


def _answer(binding: Binding, schemas: Schemas) -> dict[str, Any]:
    method = binding.method
    if binding is IMPORT:
        results: Schema = {"type": "array", "items": schemas.message(_IMPORTED)}
        return _json({"type": "object", "properties": {"results": results}})
    if binding.is_file:
        return {kind: {} for kind in _FILES}
    if binding.response_field is None:
        return _json(schemas.message(method.output))
    field = schemas.field(method.output.fields_by_name[binding.response_field])
    if not method.streaming:
        return _json(field)
    result = _RESULTS.get(method.path)
    frames = {"text/event-stream": {"schema": field}}
    return frames if result is None else {**_json(schemas.message(result)), **frames}


def _path_parameters(binding: Binding, schemas: Schemas) -> Iterator[Schema]:
    fields = binding.method.input.fields_by_name
    for name in _VARIABLE.findall(binding.template):
        yield {"in": "path", "required": True, **_parameter(fields[name], fields[name].json_name, schemas)}


def _import_parameters(schemas: Schemas) -> list[Schema]:
    query = [{"in": "query", **_parameter(one, one.json_name, schemas)} for one in HEADER.fields]
    request_id = _parameter(HEADER.fields_by_name["request_id"], "Idempotency-Key", schemas)
    return [*query, {"in": "header", **request_id}]


def _other_parameters(binding: Binding, schemas: Schemas) -> Iterator[Schema]:
    descriptor = binding.method.input
    if binding.body:
        if "request_id" in descriptor.fields_by_name:
            field = descriptor.fields_by_name["request_id"]
            yield {"in": "query", **_parameter(field, field.json_name, schemas)}
            yield {"in": "header", **_parameter(field, "Idempotency-Key", schemas)}
        return
    in_path = set(_VARIABLE.findall(binding.template))
    for name, field in _leaves(descriptor):
        if field.name not in in_path or "." in name:
            yield {"in": "query", **_parameter(field, name, schemas)}


def _leaves(descriptor: Descriptor, prefix: str = "") -> Iterator[tuple[str, FieldDescriptor]]:
    """What a query can say: scalars, and those of nested messages by dots."""
    for field in descriptor.fields:
        name = prefix + field.json_name
        if field.message_type is None or field.message_type.full_name in WELL_KNOWN:
            yield name, field
        elif not field.is_repeated:
            yield from _leaves(field.message_type, f"{name}.")


def _parameter(field: FieldDescriptor, name: str, schemas: Schemas) -> Schema:
    schema = schemas.field(field)
    described = {"description": schema.pop("description")} if "description" in schema else {}
    return {"name": name, "schema": schema, **described}


def _path(binding: Binding) -> str:
    """With the variables under their JSON names."""
    fields = binding.method.input.fields_by_name
    return _VARIABLE.sub(lambda match: "{" + fields[match[1]].json_name + "}", binding.template)


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
