"""A chat in a terminal: the prompt, Ctrl-C, Ctrl-D, and a network that fails in the middle of a reply."""

import asyncio
import signal
from pathlib import Path

from stemma.kernel.v1 import floor_pb2

from tests.cli.programs import COMMAND, environment, in_process, in_terminal
from tests.cli.proxy import proxied
from tests.cli.talks import SCRIPT, sent_messages
from tests.conftest import DatabaseFactory
from tests.support.client import connect, texts
from tests.support.processes import conversation_service
from tests.support.service import RunningService, running_service


async def latest_path(address: str) -> list[floor_pb2.Floor]:
    async with connect(address) as client:
        (session,) = (await client.call("ListSessions", page_size=1)).sessions
        return await client.everything("ListPath", "floors", session_id=session.session_id)


async def test_a_whole_conversation(service: RunningService) -> None:
    async with in_terminal("chat", STEMMA_CONVERSATION=service.address) as terminal:
        await terminal.see(r"^1 › ")
        assert "/help lists the commands; Ctrl-D leaves." in terminal.shown
        reply = await terminal.enter("I have fifteen apples.", r"^2 › ")
        assert "You said: I have fifteen apples." in reply
        assert "— turn 1 · 4 tokens in, 25 out" in reply
        await terminal.enter("/edit I have fifty apples.", r"input ‹2/2›[\s\S]*^2 › ")
        await terminal.enter("How many?", r"^3 › ")
        assert sent_messages(service)[0] == ("user", "I have fifty apples.")
        assert "Reply" not in await terminal.enter("/context", r"Token tax avoided: 3\d [\s\S]*^3 › ")
        await terminal.enter("/regenerate", r"reply ‹2/2›[\s\S]*^3 › ")
        await terminal.enter("/siblings", r"→ 2  reply ‹2/2›[\s\S]*^3 › ")
        await terminal.enter("/rollback 1", r"main is at turn 1: I have fifty apples.[\s\S]*^2 › ")
        await terminal.enter("/help", r"/quit +Leave[\s\S]*^2 › ")
        await terminal.enter("/branch new side", r"side is at turn 1[\s\S]*^side 2 › ")
        terminal.control_d()
        assert await terminal.end() == 0


async def test_ctrl_c_stops_a_reply_and_keeps_what_was_written(service: RunningService) -> None:
    async with in_terminal("chat", STEMMA_CONVERSATION=service.address) as terminal:
        await terminal.see(r"^1 › ")
        await terminal.enter("endless", "one two three")
        terminal.control_c()
        await terminal.see(r"Stopped; what was written is kept\.\n— turn 1 [\s\S]*^2 › ")
        await terminal.enter("silent", r"^Hm\.")
        terminal.control_c()
        end = await terminal.see(r"Stopped before anything was written\. /regenerate asks again\.\n2 › ")
        terminal.control_c()
        try:
            leave = await terminal.see(r"Ctrl-D or /quit leaves\.\n2 › ", end)
        except AssertionError:
            # Pressed while the prompt was drawn but not read yet: a person presses again.
            terminal.control_c()
            leave = await terminal.see(r"Ctrl-D or /quit leaves\.\n2 › ", end)
        assert leave
        terminal.type("/quit\n")
        assert await terminal.end() == 0
    (floor,) = await latest_path(service.address)
    assert texts(floor.output_page) == ["one two three "]
    assert floor.output_page.partial


async def test_an_interrupted_script_ends_and_keeps_what_was_written(service: RunningService) -> None:
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        "chat",
        env=environment(STEMMA_CONVERSATION=service.address),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"endless\nnever said\n")
    await process.stdout.readuntil(b"three ")
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert process.returncode == 130
    assert b"Stopped; what was written is kept." in out
    assert b"Traceback" not in err
    (floor,) = await latest_path(service.address)
    assert texts(floor.output_page) == ["one two three "]
    assert len(service.sent) == 1


async def test_a_cut_connection_is_joined_again_and_nothing_is_shown_or_written_twice(
    database_factory: DatabaseFactory,
) -> None:
    held = asyncio.Event()

    async def gate(index: int) -> None:
        if index == 2:
            await held.wait()

    with database_factory("sqlite") as url:
        async with (
            running_service(
                url, gate=gate, script='{"replies": [{"text": "one two three four"}]}'
            ) as service,
            proxied(service.address) as proxy,
            in_terminal("chat", STEMMA_CONVERSATION=proxy.address) as terminal,
        ):
            await terminal.see(r"^1 › ")
            await terminal.enter("count", r"one two ")
            proxy.cut()
            await terminal.see("connection lost; asking again under the same request id …\n")
            held.set()
            await terminal.see(r"^three four\n— turn 1 · 1 token in, 4 out\n\s*2 › ")
            assert terminal.shown.count("one two") == 1
            (floor,) = await latest_path(service.address)
            assert texts(floor.output_page) == ["one two three four"]
            assert len(service.sent) == 1


async def test_a_service_that_is_killed_and_comes_back_is_asked_again(tmp_path: Path) -> None:
    settings = {
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SCRIPT": SCRIPT,
        "STEMMA_DATA": str(tmp_path),
        "STEMMA_CONVERSATION": "127.0.0.1:0",
    }
    async with conversation_service(settings) as first:
        address = first.address
        async with in_terminal("chat", STEMMA_CONVERSATION=address) as terminal:
            await terminal.see(r"^1 › ")
            await terminal.enter("endless", "one two three")
            await first.kill()
            async with conversation_service(settings | {"STEMMA_CONVERSATION": address}):
                await terminal.see(r"^error: The service was stopped in the middle of the reply \(CRASHED\)")
                await terminal.see(r"/regenerate asks again\.\n1 › ")
                await terminal.enter("/edit hello", r"You said: hello[\s\S]*^2 › ")
                terminal.control_d()
                assert await terminal.end() == 0
                (floor,) = await latest_path(address)
                assert texts(floor.input_page) == ["hello"]


async def test_a_service_that_stays_away_is_one_clear_line() -> None:
    nobody = "127.0.0.1:1"
    for arguments in (["chat"], ["tree", "x"], ["sessions"]):
        done = await in_process(*arguments, "--address", nobody, lines=["hello"])
        assert (done.code, done.out) == (1, "")
        assert done.err == (
            f"error: No conversation service answers at {nobody}. Start it with `stemma up`, or say where it "
            "is: --address HOST:PORT, or STEMMA_CONVERSATION.\n"
        )
