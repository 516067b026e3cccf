"""A client that cancels after its request has come, before it is answered: 50, for every write."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import grpc
import pytest

from tests.bad_inputs.world import WRITES, World, a_world, path_of
from tests.cancellation.base import until

# In an order in which each is still possible.
ORDER = (
    *("AppendFloor", "EditFloor", "RegenerateFloor", "MoveHead", "SelectSibling", "OpenFloor"),
    "WriteState",
    *("AddPage", "ActivatePage", "CommitFloor", "CreateBranch", "MergeBranch", "DeleteBranch", "ForkSession"),
    *("CreateSession", "UpdateSession", "ArchiveSession", "RestoreSession", "DeleteSession"),
    *("CreateProject", "UpdateProject", "SetProjectMember", "RemoveProjectMember", "RestoreConfigVersion"),
    *("CreateApiKey", "RevokeApiKey"),
    *("ArchiveProject", "RestoreProject"),
    *("StageWrite", "WithdrawStagedWrite"),
)
# Runs outlive their clients: tests/runs. The floor to abandon is committed by then; test_every_await.py
# cancels that call, at each of its awaits.
OTHERWISE = {"Respond", "CancelRun", "AbandonFloor", "SubmitToolResults"}
# The entry is decided once, by the call above: these end in the same statement.
OTHERWISE |= {"RejectStagedWrite", "AcceptStagedWrite"}
# It is many writes, and goes on when it is asked again: tests/erasure.
OTHERWISE |= {"ErasePrincipal"}


@asynccontextmanager
async def nobody_writes(url: str) -> AsyncIterator[None]:
    """Holds up every write of the service, at its end at the latest."""
    if url.startswith("sqlite"):
        blocker = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        yield
        blocker.close()
        return
    connection = await asyncpg.connect(url)
    async with connection.transaction():
        await connection.execute("LOCK TABLE request IN EXCLUSIVE MODE")
        yield
    await connection.close()


async def cancelled(world: World, name: str, request: bytes) -> None:
    """The call, cancelled once the server has it; returns when the server knows."""
    server = world.service.service.server
    call: Any = world.raw.channel.unary_unary(path_of(name))(request)  # type: ignore[arg-type]

    async def not_there() -> str:
        return "" if server.active == 1 else "the server has no request"

    async def still_there() -> str:
        return f"the server still answers {name}" if server.active else ""

    await until(not_there)
    assert call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await call.code() is grpc.StatusCode.CANCELLED
    await until(still_there)


@pytest.mark.asyncio(loop_factories=["uvloop"])
async def test_bad_input_50_cancelled_before_the_answer(migrated_url: str) -> None:
    async with a_world(migrated_url) as world:
        after = await world.rows()
        for name in ORDER:
            request, before = world.sample(name), after
            async with nobody_writes(migrated_url):
                await cancelled(world, name, request.SerializeToString())
            await world.service.service.store.idle()
            left = await world.rows()
            answer = await world.ask(name, request)
            assert answer.code.name == "OK", (name, answer)
            after = await world.rows()
            assert left in (before, after), f"{name} happened by half"
            # Whichever it was, the request has one effect and one answer.
            assert (await world.ask(name, request)).messages == answer.messages, name
            assert await world.rows() == after, f"{name} happened twice"


def test_every_write_is_cancelled() -> None:
    assert {*ORDER, *OTHERWISE} == set(WRITES)
