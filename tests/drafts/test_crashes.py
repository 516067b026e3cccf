"""A draft service that dies in the middle of an export: one entry all the same (D7)."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from stemma.draft.v1 import draft_pb2

from tests.drafts.stage import Replica, replica
from tests.support.client import Client, assistant, request_for, user
from tests.support.service import SECRET_KEY, RunningService, running_service

ROOT = Path(__file__).parent.parent.parent
WAIT = 30.0


@asynccontextmanager
async def dying(point: str, draft_url: str, conversation: str) -> AsyncIterator[str]:
    """The address of a service that dies at that point; its death is what ends the block well."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "cli", "protos/gen"))
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "STEMMA_DRAFT": "127.0.0.1:0",
        "STEMMA_DRAFT_DATABASE_URL": draft_url,
        "STEMMA_CONVERSATION": conversation,
        "STEMMA_SECRET_KEY": SECRET_KEY,
        "STEMMA_PROVIDER": "scripted",
    }
    command = [sys.executable, "-m", "tests.drafts.crashing", point]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(WAIT):
            while not (line := (await process.stdout.readline()).decode()).startswith("draft_service"):
                assert line, "it listens"
            yield line.split()[-1]
            assert await process.wait() == 7
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize(
    ("engine", "point"),
    [("sqlite", "written"), ("sqlite", "called"), ("sqlite", "settled"), ("postgres", "called")],
)
async def test_an_export_survives(canon_url: str, draft_url: str, point: str) -> None:
    async with running_service(canon_url) as canon:
        request = await interrupted(canon, draft_url, point)
        async with replica(draft_url, canon.address) as restarted:
            await recovered(canon, restarted, request, point)


async def interrupted(canon: RunningService, draft_url: str, point: str):  # type: ignore[no-untyped-def]
    """The request of an export in which the service died."""
    async with (
        dying(point, draft_url, canon.address) as address,
        grpc.aio.insecure_channel(canon.address) as channel,
        grpc.aio.insecure_channel(address) as drafts,
    ):
        session_id = await Client(channel).new_session()
        client = Client(drafts)
        made = await client.call("draft.CreateDraft", session_id=session_id, purpose="crash")
        draft_id = made.draft.draft_id
        await client.call("draft.AppendMessage", draft_id=draft_id, message=user("q"))
        await client.call("draft.AppendMessage", draft_id=draft_id, message=assistant("a"))
        request = request_for(
            "draft.ExportDraft",
            draft_id=draft_id,
            target={"placement": 2},
            parts=[{"output_page": {}}],
            finalize=True,
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await client.send("draft.ExportDraft", request)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        return request


async def recovered(
    canon: RunningService,
    restarted: Replica,
    request,  # type: ignore[no-untyped-def]
    point: str,
) -> None:
    await restarted.sweep()
    async with grpc.aio.insecure_channel(canon.address) as channel:
        listed = await Client(channel).everything(
            "ListStagedWrites", "staged_writes", draft_id=request.draft_id
        )
        (entry,) = listed
        answer = await restarted.client.send("draft.ExportDraft", request)
        assert answer.staged_write_id == entry.staged_write_id
        # What the draft has of it agrees: once it is staged, the draft is at its end.
        assert (await restarted.get(request.draft_id)).state == draft_pb2.DRAFT_STATE_FINALIZED
        again = await Client(channel).everything(
            "ListStagedWrites", "staged_writes", draft_id=request.draft_id
        )
        assert again == listed
