"""Whole runs with tools over gRPC: a scripted model calls, clients approve and answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message
from stemma.kernel.v1 import message_pb2, run_pb2

from kernel.tree.message import ToolResult
from tests.runs.stage import Part, Stage, Watch, kinds
from tests.support.client import request_for

NUMBER = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'


def tool(name: str, **fields: Any) -> dict[str, Any]:
    """A client's, which says that it is harmless, and so needs no approval."""
    return {"name": name, "parameters_json": NUMBER, "side_effect": "TOOL_SIDE_EFFECT_NONE"} | fields


def boxed(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "owner": "TOOL_OWNER_BUILT_IN"} | fields


def asking(name: str) -> dict[str, Any]:
    return boxed(name, approval="TOOL_APPROVAL_ALWAYS")


def calls(name: str, call_id: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A call as a script has it."""
    return {"name": name, "arguments": arguments, "call_id": call_id}


def first(*made: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"after_results": 0, "tool_calls": list(made)} | fields


def then(text: str = "Done.", after: int = 1) -> dict[str, Any]:
    return {"after_results": after, "text": text}


def result(call_id: str, content: str = "42", **fields: Any) -> dict[str, Any]:
    return {"call_id": call_id, "content": content} | fields


def decision(call_id: str, approve: bool = True, reason: str = "") -> dict[str, Any]:
    return {"call_id": call_id, "approve": approve, "reason": reason}


def parts(messages: Sequence[message_pb2.Message], kind: str) -> list[Any]:
    return [getattr(part, kind) for message in messages for part in message.parts if part.HasField(kind)]


def told(part: Part) -> list[tuple[str, str, bool]]:
    """Which results the model was told last: (id, content, whether an error)."""
    found = [p for message in part.sent[-1].messages for p in message.parts]
    return [(p.call_id, p.content, p.is_error) for p in found if isinstance(p, ToolResult)]


@dataclass
class Act:
    """One run, from its beginning over its waits to its end."""

    stage: Stage
    session_id: str
    part: Part
    watch: Watch

    @property
    def run_id(self) -> str:
        return self.watch.run_id

    @property
    def frames(self) -> list[run_pb2.RunEvent]:
        return self.watch.frames

    @property
    def kinds(self) -> list[str | None]:
        """Of its frames, a run of equal ones once."""
        found = kinds(self.frames)
        return [kind for n, kind in enumerate(found) if n == 0 or found[n - 1] != kind]

    @property
    def waits(self) -> list[tuple[str, list[str]]]:
        """What the frames said that it waits for: the kind and the calls' ids."""
        asked = [frame.requires_action for frame in self.frames if frame.HasField("requires_action")]
        return [(run_pb2.ActionKind.Name(one.kind), [c.call_id for c in one.calls]) for one in asked]

    async def submit(self, **fields: Any) -> run_pb2.Run:
        return (await self.stage.other.call("SubmitToolResults", run_id=self.run_id, **fields)).run

    async def refused(self, **fields: Any) -> tuple[str, str]:
        found = await self.stage.other.refused("SubmitToolResults", run_id=self.run_id, **fields)
        return found.code, found.reason

    def request(self, **fields: Any) -> Message:
        return request_for("SubmitToolResults", run_id=self.run_id, **fields)

    async def run(self) -> run_pb2.Run:
        return await self.stage.run(self.run_id)

    async def go_on(self) -> list[run_pb2.RunEvent]:
        """Until it waits again, or ends: what comes after what was seen."""
        further = await self.stage.attach(self.run_id, self.frames[-1]).rest()
        self.frames.extend(further)
        return further

    @property
    def messages(self) -> list[message_pb2.Message]:
        """Of the committed output."""
        return list(self.frames[-1].floor_committed.floor.output_page.messages)

    async def values(self) -> dict[str, object]:
        """The visible variables at the head."""
        state = await self.stage.other.call("GetState", session_id=self.session_id)
        return {variable.key: json.loads(variable.value_json) for variable in state.variables}


async def session_with(stage: Stage, *tools: dict[str, Any], **config: Any) -> str:
    session = (await stage.client.call("CreateSession", config={"tools": tools, **config})).session
    return str(session.session_id)


async def play(stage: Stage, session_id: str, *replies: dict[str, Any], **fields: Any) -> Act:
    """Until the run waits or ends."""
    part = stage.part(*replies)
    watch = stage.watch(session_id, part, **fields)
    await watch.rest()
    return Act(stage, session_id, part, watch)
