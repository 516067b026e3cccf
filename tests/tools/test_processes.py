"""What starts our programs must tell a test when they are ready, and never leave one behind."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from tests.support.processes import ProgramError, running

PROGRAM = """
import os, signal, sys
print("starting", os.environ.get("STEMMA_ONE"), os.environ.get("STEMMA_OTHER"), file=sys.stderr)
print("demo listening on 127.0.0.1:1234")
print("other listening on http://127.0.0.1:5678")
signal.pause()
"""
STUBBORN = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + PROGRAM


def _command(program: str) -> list[str]:
    return [sys.executable, "-c", program]


async def test_it_waits_until_ready_and_stops_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEMMA_OTHER", "inherited")
    async with running("demo", _command(PROGRAM), {"STEMMA_ONE": "given"}) as program:
        assert program.address == "127.0.0.1:1234"
        await program.line("^other listening")
        assert program.addresses["other"] == "http://127.0.0.1:5678"
        assert program.lines[0] == "starting given None"
        assert program.returncode is None
    assert program.returncode == -signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(program.pid, 0)


async def test_a_program_that_ends_early_is_reported_with_what_it_printed() -> None:
    with pytest.raises(ProgramError, match=r"ended with 3 before[^$]*no such thing"):
        async with running("demo", _command("import sys; print('no such thing'); sys.exit(3)"), {}):
            raise AssertionError("unreachable")


async def test_a_line_that_never_comes_is_reported() -> None:
    async with running("demo", _command(PROGRAM), {}) as program:
        with pytest.raises(ProgramError, match="did not print 'never'"):
            await program.line("never", timeout=0.05)


async def test_a_program_that_does_not_stop_is_reported_and_can_be_killed() -> None:
    async with running("demo", _command(STUBBORN), {}) as program:
        with pytest.raises(ProgramError, match="still runs after"):
            await program.stop(timeout=0.05)
        await program.kill()
    assert program.returncode == -signal.SIGKILL


async def test_an_error_in_the_test_leaves_no_program_behind() -> None:
    with pytest.raises(ZeroDivisionError):
        async with running("demo", _command(STUBBORN), {}) as program:
            raise ZeroDivisionError
    assert program.returncode == -signal.SIGKILL
