"""A client of the gateway with the same face as `tests.support.client.Client`: any RPC by its name.

It follows the contract's google.api.http annotations, apart from the gateway's own router.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from google.api import annotations_pb2
from google.protobuf import json_format, message_factory
from google.protobuf.message import Message
from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import floor_pb2

from tests.support.client import METHODS, TIMEOUT, request_for


class RestClient:
    """Calls over one HTTP connection pool. A failed call is a failed test."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def call(self, name: str, /, **fields: Any) -> Any:
        kind = message_factory.GetMessageClass(METHODS[name].output_type)
        return json_format.Parse(await self._body(name, request_for(name, **fields)), kind())

    async def respond(self, session_id: str, **fields: Any) -> floor_pb2.Floor:
        """Runs a turn to its end and returns the committed floor."""
        body = await self._body("Respond", request_for("Respond", session_id=session_id, **fields))
        return json_format.Parse(body, run_service_pb2.RespondResult()).floor

    async def context_bytes(self, session_id: str) -> bytes:
        """The assembled messages as they travel."""
        body = await self._body("AssembleContext", request_for("AssembleContext", session_id=session_id))
        return json.dumps(json.loads(body)["messages"]).encode()

    async def _body(self, name: str, request: Message) -> str:
        rule = METHODS[name].GetOptions().Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        fields = json_format.MessageToDict(request, preserving_proto_field_name=True)
        path = re.sub(r"\{(\w+)\}", lambda match: str(fields.pop(match[1])), getattr(rule, verb))
        content = {"json": fields} if rule.body else {"params": fields}
        answer = await self._http.request(verb.upper(), path, **content)
        assert answer.status_code == 200, answer.text
        return answer.text


@asynccontextmanager
async def connect_rest(base_url: str) -> AsyncIterator[RestClient]:
    async with httpx.AsyncClient(base_url=base_url, timeout=TIMEOUT) as http:
        yield RestClient(http)
