"""An import holds one conversation at a time, whatever the size of the file.

`IMPORT_MEGABYTES=300 pytest tests/transfers/test_memory.py` takes a larger one.
"""

import json
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.conversation.v1 import session_service_pb2_grpc

from tests.support.databases import sqlite_url
from tests.support.processes import conversation_service
from tests.transfers.files import chunk, header

MEGABYTES = int(os.environ.get("IMPORT_MEGABYTES", "60"))
TREE_BYTES = 500_000
ALLOWED_KB = 40 * 1024


def tree(number: int) -> bytes:
    """Half a megabyte: a prompt with ten replies."""
    text = random.Random(number).randbytes(TREE_BYTES // 22).hex()
    replies = [
        {"message_id": f"{n}", "parent_id": "p", "role": "assistant", "text": f"{n} {text}", "replies": []}
        for n in range(10)
    ]
    prompt = {"message_id": "p", "role": "prompter", "text": text, "replies": replies}
    return json.dumps({"message_tree_id": f"{number}", "prompt": prompt}).encode() + b"\n"


async def upload(trees: int) -> AsyncIterator[pb.ImportSessionsRequest]:
    yield header("oasst")
    for number in range(trees):
        yield chunk(tree(number))


def peak_kb(pid: int) -> int:
    """The most memory that the process has had, in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))


async def test_a_large_file_takes_little_memory(tmp_path: Path) -> None:
    trees = MEGABYTES * 1_000_000 // TREE_BYTES
    environment = {
        "STEMMA_CONVERSATION": "127.0.0.1:0",
        "STEMMA_DATA": str(tmp_path),
        "STEMMA_CONVERSATION_DATABASE_URL": sqlite_url(tmp_path / "c.db"),
        "STEMMA_PROVIDER": "scripted",
        "STEMMA_LOG_LEVEL": "WARNING",
    }
    async with (
        conversation_service(environment) as service,
        grpc.aio.insecure_channel(service.address) as channel,
    ):
        stub = session_service_pb2_grpc.SessionServiceStub(channel)
        # What is needed for any import is not what a large one costs.
        _ = [answer async for answer in stub.ImportSessions(upload(1))]
        before = peak_kb(service.pid)
        results = [answer.result async for answer in stub.ImportSessions(upload(trees))]
        after = peak_kb(service.pid)
    assert len(results) == trees
    assert not any(result.HasField("error") for result in results)
    assert after - before < ALLOWED_KB, f"{(after - before) // 1024} MiB more"
