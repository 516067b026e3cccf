"""More calls at once than are answered: each is told so or done, and others are served.

How much is still done, and how soon all is well again, is for `make overload`.
"""

import asyncio
from collections import Counter
from pathlib import Path

from tests.overload.experiment import EXHAUSTED, OK, Phase, a_load, a_stalled_reader, table, verdicts
from tests.overload.http2_load import Answered
from tests.support.client import connect, request_for, user
from tests.support.databases import sqlite_url

SESSIONS = 40


async def test_every_call_of_a_burst_is_done_or_refused(tmp_path: Path) -> None:
    """Two thousand at once: what was done is there and nothing else is; then all is as before."""
    async with a_load(sqlite_url(tmp_path / "o.db"), str(tmp_path), SESSIONS) as (address, load):
        async with asyncio.timeout(120):
            answers = await asyncio.gather(*[load.call() for _ in range(2_000)])
        codes = Counter(answer.status for answer in answers)
        assert set(codes) == {OK, EXHAUSTED}
        async with connect(address) as client:
            sessions = await client.everything("ListSessions", "sessions", page_size=SESSIONS)
            paths = [await client.path_ids(session.session_id) for session in sessions]
            assert sum(map(len, paths)) == codes[OK]
        after = await load.closed(8, seconds=0.2)
        assert set(after.codes) == {OK}


async def test_a_stalled_reader_costs_others_nothing(tmp_path: Path) -> None:
    async with (
        a_load(sqlite_url(tmp_path / "o.db"), str(tmp_path), SESSIONS) as (address, load),
        a_stalled_reader(address),
        connect(address, own_connection=True) as client,
    ):
        phase = await load.closed(8, seconds=0.5)
        assert set(phase.codes) == {OK}
        session = await client.new_session()
        await client.call("AppendFloor", session_id=session, input=[user("x")])
        export = request_for("ExportSession", session_id=session)
        assert [answer async for answer in client.stream("ExportSession", export)]


def test_the_verdicts_can_fail() -> None:
    def phase(name: str, done: int, status: int = OK, seconds: float = 1.0) -> Phase:
        return Phase(name, "", seconds, [Answered(status, 0.1)] * done)

    good = [phase("growing", 100), phase("twice", 90), phase("after it", 50)]
    good += [phase("one stalled reader", 95), phase("none", 100)]
    assert [held for held, _ in verdicts(good)] == [True] * 4
    bad = [phase("growing", 100), phase("twice", 70), phase("after it", 50, seconds=11)]
    bad += [phase("one stalled reader", 10), phase("none", 100), phase("growing", 1, -1)]
    assert [held for held, _ in verdicts(bad)] == [False] * 4
    assert "| twice |" in table(good)
