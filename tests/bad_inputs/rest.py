"""The samples as REST requests, written by hand from the contract's annotations."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from google.api import annotations_pb2
from google.protobuf import json_format
from google.protobuf.message import Message

from tests.bad_inputs.world import LEAKS
from tests.gateway.raw_http import Answer, request, send
from tests.support.client import METHODS

JSON = "Content-Type: application/json"
HTTP = {
    "INVALID": (400, 3),
    "NOT_FOUND": (404, 5),
    "HEAD_MOVED": (409, 10),
    "UNIMPLEMENTED": (501, 12),
    "INTERNAL": (500, 13),
    "LIMIT": (429, 8),
}


@dataclass(frozen=True)
class Binding:
    """One REST form of an RPC. `variables`: the fields that its path holds, in their order."""

    name: str
    verb: str
    template: str
    body: bool

    @property
    def variables(self) -> list[str]:
        return [piece.split("}")[0] for piece in self.template.split("{")[1:]]

    def target(self, values: dict[str, str]) -> str:
        """The path with these values as they are: quote them first, or not."""
        path = self.template
        for name, value in values.items():
            path = path.replace(f"{{{name}}}", value)
        return path

    def parts(self, sample: Message, **path: str) -> tuple[str, bytes]:
        """Target and body of a request; `path` has values that are put in as they are."""
        fields: dict[str, Any] = json_format.MessageToDict(sample, preserving_proto_field_name=True)
        values = {name: quote(str(fields.pop(name, "main")), safe="") for name in self.variables} | path
        if self.body:
            return self.target(values), json.dumps(fields).encode()
        query = urlencode({name: _text(value) for name, value in fields.items()})
        return self.target(values) + (f"?{query}" if query else ""), b""

    async def send(self, base_url: str, target: str, body: bytes, *headers: str) -> Answer:
        given = [*headers]
        if self.body:
            given += [f"Content-Length: {len(body)}"]
            if not any(one.lower().startswith("content-type") for one in headers):
                given.append(JSON)
        return await send(base_url, request(self.verb, target, *given), body)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def bindings() -> Iterator[Binding]:
    """Every annotated form of every RPC but client streams; some are for gRPC only."""
    for name, method in METHODS.items():
        annotated = method.GetOptions().HasExtension(annotations_pb2.http)
        if annotated and not method.client_streaming:
            rule = method.GetOptions().Extensions[annotations_pb2.http]
            for one in (rule, *rule.additional_bindings):
                verb = one.WhichOneof("pattern")
                yield Binding(name, verb.upper(), getattr(one, verb), one.body == "*")


BINDINGS = tuple(bindings())


def refused(answer: Answer, reason: str, status: int = 0) -> Answer:
    """Asserts the contract's error shape, with the status that goes with the reason, and no leak."""
    wanted, code = HTTP[reason]
    assert answer.status == (status or wanted), (answer.status, answer.body)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-request-id"]
    assert (answer.json()["code"], answer.reason) == (code, reason), answer.body
    assert answer.json()["message"]
    leak = LEAKS.search(answer.body.decode())
    assert leak is None, f"{leak}: {answer.body!r}"
    return answer
