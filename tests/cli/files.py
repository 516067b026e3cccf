"""Files to import, and a service that stops in the middle of taking one."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kernel.storage.store import SqlStore
from tests.cli.programs import SECONDS, Done, in_process
from tests.support.client import connect
from tests.support.service import RunningService


def tree(number: int, *, role: str = "prompter") -> dict[str, Any]:
    """An Open Assistant tree: a question with two answers."""
    return {
        "message_tree_id": f"t{number}",
        "current_message_id": f"a{number}",
        "prompt": {
            "message_id": f"p{number}",
            "role": role,
            "text": f"Question {number}?",
            "replies": [
                {
                    "message_id": f"{name}{number}",
                    "role": "assistant",
                    "text": f"Answer {name}.",
                    "replies": [],
                }
                for name in ("a", "b")
            ],
        },
    }


def written(path: Path, *lines: object) -> Path:
    """JSON lines; a line that is text already stays as it is."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts))
    return path


def trees(path: Path, count: int) -> Path:
    return written(path, *[tree(number) for number in range(count)])


async def import_files(service: RunningService, *arguments: object) -> Done:
    return await in_process("import", *map(str, arguments), STEMMA_CONVERSATION=service.address)


async def session_ids(service: RunningService) -> set[str]:
    """Of all sessions that there are."""
    async with connect(service.address) as client:
        found = await client.everything("ListSessions", "sessions")
    return {session.session_id for session in found}


def taken(text: str) -> list[str]:
    """The sessions that a report names, in its order."""
    return [line.split()[1] for line in text.splitlines() if line.startswith("✓ ")]


class Gate:
    """Lets `count` conversations be written, and holds the next until it is opened."""

    def __init__(self, count: int) -> None:
        self._reached = asyncio.Event()
        self._left = count
        self._opened = asyncio.Event()
        self._write: Callable[..., Awaitable[Any]] = SqlStore.write

    async def reached(self) -> None:
        """Until one is held. Fails when none is: a command that does not even start writes nothing."""
        async with asyncio.timeout(SECONDS):
            await self._reached.wait()

    def open(self) -> None:
        self._opened.set()

    async def write(self, store: SqlStore, *arguments: Any, **named: Any) -> Any:
        """In place of the store's own. What follows the feed writes too, and is no conversation."""
        _, work, *_ = arguments
        if "imports" not in work.__module__:
            return await self._write(store, *arguments, **named)
        if not self._left and not self._opened.is_set():
            self._reached.set()
            await self._opened.wait()
        self._left = max(0, self._left - 1)
        return await self._write(store, *arguments, **named)
