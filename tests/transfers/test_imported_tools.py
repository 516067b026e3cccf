"""What a file holds of tools reaches a model only as one takes it (T8)."""

import json
from typing import Any

import pytest
import pytest_asyncio
from stemma.kernel.v1 import message_pb2

from kernel.generation.openai_messages import request_body
from kernel.generation.provider import ChatRequest
from kernel.wire.codec import WireCodec
from tests.formats.support import chatgpt_conversation, chatgpt_node
from tests.support.client import say, text_of, user
from tests.support.openai_rules import refusals
from tests.transfers.files import Files

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def files(shared_files: Files) -> Files:
    return shared_files


async def assembled(files: Files, session_id: str) -> Any:
    """A context that a model would take."""
    answer = await files.client.call("AssembleContext", session_id=session_id)
    blob = message_pb2.MessageList(messages=answer.messages).SerializeToString()
    assert refusals(request_body(ChatRequest(WireCodec().messages(blob)), "m")) == []
    return answer


async def test_texts_of_tools_without_a_call(files: Files) -> None:
    """As ChatGPT writes what its own tools answered."""
    nodes = [
        chatgpt_node("u1", "top"),
        chatgpt_node("a1", "u1", "assistant", recipient="browser"),
        chatgpt_node("t1", "a1", "tool", author={"role": "tool", "name": "browser"}),
        chatgpt_node("a2", "t1", "assistant"),
    ]
    file = json.dumps([chatgpt_conversation(*nodes, current="a2")]).encode()
    answer = await assembled(files, await files.one("chatgpt", file))
    assert [text_of(message) for message in answer.messages] == ["u1", "a1", "a2"]
    assert [out.why for out in answer.explanation.left_out] == ["unpaired"]


async def test_calls_that_were_cut_off(files: Files) -> None:
    session_id = await files.client.new_session()
    call = {"tool_call": {"call_id": "a", "name": "look", "arguments_json": "{}"}}
    late = {"tool_result": {"call_id": "a", "content": "found"}}
    output = [
        message_pb2.Message(role=message_pb2.ROLE_ASSISTANT, parts=[call]),
        say(message_pb2.ROLE_ASSISTANT, "well"),
        message_pb2.Message(role=message_pb2.ROLE_TOOL, parts=[late]),
    ]
    await files.client.call("AppendFloor", session_id=session_id, input=[user("q")], output=output)
    here = await assembled(files, session_id)
    assert [entry.why for entry in here.explanation.entries] == ["path", "path", "closed_call", "path"]
    copy = await assembled(files, await files.one("stemma", await files.exported(session_id)))
    assert copy.messages == here.messages
    assert copy.explanation.context_digest == here.explanation.context_digest
