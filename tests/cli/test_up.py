"""`stemma up` as a real process: what it starts, what it says, and that nothing of it stays."""

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.programs import COMMAND, stemma
from tests.support.client import connect, request_for, texts, user
from tests.support.processes import Running, running, stemma_up

START, GONE = 30.0, 10.0
SCRIPT = json.dumps({"replies": [{"when": "slow", "text": "one two three four five", "delay_ms": 150}]})


def settings(data: Path, **more: str) -> dict[str, str]:
    return {
        "STEMMA_HTTP": "127.0.0.1:0",
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_DATA": str(data),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_SCRIPT": SCRIPT,
    } | more


def up(environment: Mapping[str, str], *arguments: str) -> AbstractAsyncContextManager[Running]:
    """`stemma up` with arguments, that may fail."""
    return running("up", [*COMMAND, "up", *arguments], environment, ready="")


def children(pid: int) -> dict[str, int]:
    """Process ids of the services that a process has started, by the module that they run."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:  # ended meanwhile
            continue
        if parent == pid:
            found[command[2].decode()] = int(folder.name)
    return found


async def gone(pid: int, seconds: float = GONE) -> bool:
    """Whether the process ends within so many seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(handle, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), seconds)
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(handle)
        os.close(handle)
    return True


@asynccontextmanager
async def a_taken_port() -> AsyncIterator[str]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield f"127.0.0.1:{taken.getsockname()[1]}"


async def test_what_it_says_to_try_works_and_ctrl_c_ends_it_after_the_reply_in_flight(tmp_path: Path) -> None:
    async with stemma_up(settings(tmp_path)) as program:
        conversation, http = program.addresses["conversation_service"], program.addresses["gateway"]
        await program.line("^Answers come from the scripted provider")
        await program.line("^Authentication is off: everybody on this machine")
        talk = await program.line(r"^  talk +stemma (chat --address \S+)$")
        curl = await program.line(r"^  begin over REST +(curl http://.*)$")
        await program.line("^Ctrl-C stops everything")

        tried = await asyncio.create_subprocess_shell(curl[1] + " --silent", stdout=asyncio.subprocess.PIPE)
        answer, _ = await tried.communicate()
        session_id = json.loads(answer)["session"]["sessionId"]
        done = await stemma(*talk[1].split(), lines=["hello"])
        assert done.code == 0
        assert session_id in done.out
        assert "You said: hello" in done.out
        assert conversation in talk[1]
        async with httpx.AsyncClient(base_url=http, timeout=30.0) as client:
            path = (await client.get(f"/v1/sessions/{session_id}/path")).json()
            assert [floor["depth"] for floor in path["floors"]] == [1]
            started = children(program.pid)
            assert len(started) == 3
            last = await last_frame(client, session_id, program)
        assert last["floor"]["outputPage"]["messages"][0]["parts"][0]["text"]["text"].endswith("five")
        assert await program.wait() == 0
        for pid in started.values():
            assert await gone(pid, 0.0)
        assert "stopping …" in program.lines


async def last_frame(client: httpx.AsyncClient, session_id: str, program: Running) -> dict[str, Any]:
    """Of a slow reply, in the middle of which the program is interrupted."""
    body = {"requestId": request_for("CreateSession").request_id, "input": {"messages": [_said()]}}
    head = {"accept": "text/event-stream"}
    async with client.stream("POST", f"/v1/sessions/{session_id}:respond", json=body, headers=head) as stream:
        lines = stream.aiter_lines()
        async for line in lines:
            if "two" in line:
                break
        program.send(signal.SIGINT)
        rest = [line async for line in lines if line.startswith("data:")]
    frame: dict[str, Any] = json.loads(rest[-1].removeprefix("data:"))["floorCommitted"]
    return frame


def _said() -> dict[str, object]:
    return {"role": "ROLE_USER", "parts": [{"text": {"text": "slow"}}]}


async def test_a_killed_stemma_up_leaves_no_children(tmp_path: Path) -> None:
    async with stemma_up(settings(tmp_path)) as program:
        started = children(program.pid)
        assert len(started) == 3
        await program.kill()
        for pid in started.values():
            assert await gone(pid)


async def test_a_service_that_dies_takes_the_others_along(tmp_path: Path) -> None:
    async with up(settings(tmp_path), "--json") as program:
        said = json.loads((await program.line(r"^\{.*\}$"))[0])
        assert said == {
            "conversation": program.addresses["conversation_service"],
            "draft": program.addresses["draft_service"],
            "http": program.addresses["gateway"],
            "provider": "scripted",
        }
        started = children(program.pid)
        os.kill(started["conversation_service"], signal.SIGKILL)
        assert await program.wait() == 1
        assert await gone(started["draft_service"], 0.0)
        assert await gone(started["gateway"], 0.0)
        assert program.lines[-1] == (
            "error: conversation_service ended by itself (signal SIGKILL); the others are stopped too."
        )


@pytest.mark.parametrize("variable", ["STEMMA_HTTP", "STEMMA_CONVERSATION", "STEMMA_DRAFT"])
async def test_a_busy_port_is_one_clear_sentence(tmp_path: Path, variable: str) -> None:
    async with a_taken_port() as taken, up(settings(tmp_path, **{variable: taken})) as program:
        assert await program.wait() == 1
        port = taken.rpartition(":")[2]
        assert program.lines == [
            f"error: Port {port} is in use, perhaps by another `stemma up`. Stop that, or choose another "
            f"address: {variable}=127.0.0.1:0 picks a free port."
        ]
        assert not (tmp_path / "conversation.db").exists()


async def test_what_a_service_refuses_is_said_and_nothing_stays(tmp_path: Path) -> None:
    async with up(settings(tmp_path, STEMMA_HTTP="0.0.0.0:0", STEMMA_AUTH="off")) as program:
        await program.line("^conversation_service listening on ")
        assert await program.wait() == 1
        assert program.lines[-1] == "error: gateway did not start; what it said about that is above."
        assert any(line.startswith("gateway: STEMMA_AUTH") for line in program.lines)


async def test_without_the_local_model_it_says_so_and_goes_on_and_verbose_shows_calls(tmp_path: Path) -> None:
    """The model's package is hidden from `stemma up` and from what it starts."""
    hider = tmp_path / "hider"
    hider.mkdir()
    (hider / "sitecustomize.py").write_text(
        "import importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'xllamacpp' else find(name, *rest)\n"
    )
    path = os.pathsep.join(filter(None, [str(hider), os.environ.get("PYTHONPATH")]))
    environment = settings(tmp_path, STEMMA_PROVIDER="", PYTHONPATH=path)
    async with up(environment, "--verbose") as program:
        await program.line("^The local model is not installed, so the scripted provider answers")
        await program.line("^Answers come from the scripted provider")
        async with connect(program.addresses["conversation_service"]) as client:
            floor = await client.respond(await client.new_session(), input={"messages": [user("hello")]})
        assert "I am the scripted provider" in texts(floor.output_page)[0]
        await program.line(r"call .*method=/stemma\.conversation\.v1\.SessionService/CreateSession")
        assert await program.stop(signal.SIGHUP) == 0
