"""The process's end by signals: in a real process, since signals are a process's."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

PROGRAM = """
import asyncio, sys
from kernel.rpc.logs import configure_logs
from kernel.rpc.signals import run_until_signal

async def main(stop):
    loop = type(asyncio.get_running_loop()).__module__
    print("uvloop" if "uvloop" in loop else "asyncio", flush=True)
    await stop.wait()
    print("stopping", flush=True)
    if sys.argv[1] == "stuck":
        await asyncio.Event().wait()
    print("stopped", flush=True)

configure_logs()
run_until_signal(main, install_uvloop=sys.argv[2] == "uvloop")
"""


class Program:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode().strip()


@asynccontextmanager
async def program(how: str, loop: str) -> AsyncIterator[Program]:
    pipe, devnull = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, how, loop, stdout=pipe, stderr=devnull
    )
    try:
        async with asyncio.timeout(30):
            yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
async def test_a_signal_lets_main_end(number: signal.Signals, loop: str) -> None:
    async with program("clean", loop) as running:
        assert await running.line() == loop
        running.process.send_signal(number)
        assert await running.line() == "stopping"
        assert await running.line() == "stopped"
        assert await running.process.wait() == 0


async def test_a_second_signal_stops_at_once() -> None:
    async with program("stuck", "uvloop") as running:
        assert await running.line() == "uvloop"
        running.process.send_signal(signal.SIGTERM)
        assert await running.line() == "stopping"
        running.process.send_signal(signal.SIGTERM)
        assert await running.process.wait() == 128 + signal.SIGTERM
