"""The service with a fault planted: `STEMMA_SOAK_PLANT=NAME python -m tools.soak.planted_service`.

Only the soak starts it, to see that it finds the fault.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any

from conversation_service.process import run
from kernel.storage import append_postgres
from kernel.storage.store import SqlStore
from kernel.verbs import pending
from kernel.verbs.records import AppendRecord, Outcome

VARIABLE = "STEMMA_SOAK_PLANT"
# How long a planted acknowledgement comes before its commit, in seconds.
_EARLY = 0.3


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise SystemExit(
            f"planted_service: `{old}` stands {text.count(old)} times in the statement, not once"
        )
    return text.replace(old, new)


def acknowledge_before_commit() -> None:
    """Appends on PostgreSQL are answered, and committed a little later."""
    commits: set[asyncio.Task[None]] = set()

    async def append_batch(self: SqlStore, records: Sequence[AppendRecord]) -> list[Outcome]:
        answered: asyncio.Future[list[Outcome]] = asyncio.get_running_loop().create_future()

        async def commit() -> None:
            try:
                async with self._engines.driver() as connection, connection.transaction():
                    answered.set_result(await append_postgres.append_batch(connection, records))
                    await asyncio.sleep(_EARLY)
            except Exception as error:
                if answered.done():
                    raise
                answered.set_exception(error)

        task = asyncio.create_task(commit())
        commits.add(task)
        task.add_done_callback(commits.discard)
        return await answered

    SqlStore._append_batch = append_batch  # type: ignore[method-assign]


def no_head_check() -> None:
    """Appends go on top of whatever is the head, under the session's lock and in the hot statement."""
    hot = append_postgres
    hot.APPEND = _replaced(hot.APPEND, "WHEN h.head_floor_id <> h.expected_head THEN 'stale'", "")
    hot.APPEND = _replaced(hot.APPEND, "AND b.head_floor_id = w.expected_head", "")

    def accept(branch: Any, target: Any) -> None:
        pass

    pending.expect_head = accept  # type: ignore[attr-defined]


PLANTS: dict[str, Callable[[], None]] = {
    "acknowledge-before-commit": acknowledge_before_commit,
    "no-head-check": no_head_check,
}


def main() -> None:
    """Plants the fault that the environment names, and runs the service until it is stopped."""
    PLANTS[os.environ[VARIABLE]]()
    run()


if __name__ == "__main__":
    main()
