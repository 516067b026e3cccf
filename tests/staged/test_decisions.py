"""An entry is decided once, by somebody named, with a reason (L2): whoever comes at the same moment."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from sqlalchemy import update

from conversation_service.app.staged_expiry import REASON, Expiry
from kernel.storage.staged import Ledgers
from kernel.storage.tables import staged_write
from tests.staged.stage import (
    ACCEPTED,
    EXPIRED,
    REJECTED,
    STAGED,
    WITHDRAWN,
    Stage,
    a_stage,
    add,
    page,
    patch,
)
from tests.support.client import refusal_of, request_for

pytestmark = pytest.mark.asyncio(loop_scope="session")
DECISIONS = ("AcceptStagedWrite", "RejectStagedWrite", "WithdrawStagedWrite")
ENDS = {ACCEPTED: "accepted", REJECTED: "rejected", WITHDRAWN: "withdrawn"}


async def decide(stage: Stage, name: str, entry: Any, **fields: Any) -> Any:
    answer = await stage.client.call(
        name, **{"staged_write_id": entry.staged_write_id, "reason": "because"} | fields
    )
    return answer.staged_write


async def test_a_decision_against_changes_nothing_else(stage: Stage) -> None:
    floor = await stage.turn()
    for name, state in (("RejectStagedWrite", REJECTED), ("WithdrawStagedWrite", WITHDRAWN)):
        for target in (stage.target("NEXT_FLOOR"), {"project_id": stage.project_id}):
            part = page() if "session_id" in target else patch(add("/systemPrompt", "x"))
            entry = await stage.staged(part, target=target)
            tree = await stage.client.call("GetTree", session_id=stage.session_id)
            count = len(await stage.types())
            decided = await decide(stage, name, entry)
            assert (decided.state, decided.decided_by, decided.decision_reason) == (state, "local", "because")
            assert decided.HasField("decide_time")
            assert decided.result_floor_id == ""
            assert await stage.types(count) == [f"staged_write.{ENDS[state]}"]
            assert await stage.client.call("GetTree", session_id=stage.session_id) == tree
    assert await stage.head() == floor.floor_id


@pytest.mark.parametrize("first", DECISIONS)
async def test_what_is_decided_stays_so(stage: Stage, first: str) -> None:
    entry = await stage.staged(page())
    state = (await decide(stage, first, entry)).state
    before = await stage.rows()
    for name in DECISIONS:
        refused = await stage.client.refused(name, staged_write_id=entry.staged_write_id, reason="again")
        assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "ALREADY_DECIDED")
        assert refused.metadata == {"state": f"STAGED_WRITE_STATE_{ENDS[state].upper()}"}
    assert await stage.rows() == before


async def test_a_decision_has_a_reason(stage: Stage) -> None:
    entry = await stage.staged(page())
    for name in DECISIONS:
        for fields in ({}, {"reason": "x" * 501}, {"reason": "a\0"}, {"reason": "r", "staged_write_id": "x"}):
            refused = await stage.client.refused(name, **{"staged_write_id": entry.staged_write_id} | fields)
            assert refused.code == "INVALID_ARGUMENT", (name, fields)
    for fields in ({"expected_version": -1}, {"expected_head": "x"}):
        refused = await stage.client.refused(
            "AcceptStagedWrite", staged_write_id=entry.staged_write_id, reason="r", **fields
        )
        assert refused.code == "INVALID_ARGUMENT", fields
    assert (await stage.entry(entry)).state == STAGED


async def test_an_archived_target_can_be_decided_against(stage: Stage) -> None:
    entries = [await stage.staged(page()) for _ in range(2)]
    await stage.client.call("ArchiveSession", session_id=stage.session_id)
    assert (await decide(stage, "RejectStagedWrite", entries[0])).state == REJECTED
    assert (await decide(stage, "WithdrawStagedWrite", entries[1])).state == WITHDRAWN


async def test_of_reviewers_at_once_one_wins(stage: Stage) -> None:
    """Many times, accepting and rejecting; each entry has one end, one event, and a floor or none."""
    await stage.turn()
    for number in range(10):
        entry = await stage.staged(page(f"answer {number}"))
        calls = [(name, n) for name in DECISIONS for n in range(2)]

        async def one(name: str, n: int, entry: Any = entry) -> str:
            try:
                answer = await decide(stage, name, entry, reason=f"{name} {n}", **_select(name))
            except grpc.aio.AioRpcError as error:
                refused = refusal_of(error)
                assert refused.reason == "ALREADY_DECIDED", refused
                assert refused.code in ("ABORTED", "FAILED_PRECONDITION")
                return ""
            return ENDS[answer.state]

        count, path = len(await stage.types()), len(await stage.client.path_ids(stage.session_id))
        ends = await asyncio.gather(*(one(name, n) for name, n in calls[number % 6 :] + calls[: number % 6]))
        (won,) = filter(None, ends)
        assert ENDS[(await stage.entry(entry)).state] == won
        expected = ["floor.committed"] * (won == "accepted") + [f"staged_write.{won}"]
        assert await stage.types(count) == expected
        assert len(await stage.client.path_ids(stage.session_id)) == path + (won == "accepted")
    assert await stage.verified() == []


def _select(name: str) -> dict[str, Any]:
    return {"allow_stale": True} if name == "AcceptStagedWrite" else {}


async def test_the_same_request_many_times_at_once_is_one_decision(stage: Stage) -> None:
    entry = await stage.staged(page())
    request = request_for("AcceptStagedWrite", staged_write_id=entry.staged_write_id, reason="good")
    answers = await asyncio.gather(*(stage.client.raw("AcceptStagedWrite", request) for _ in range(16)))
    assert len(set(answers)) == 1
    staging = request_for("StageWrite", target=stage.target("NEXT_FLOOR"), parts=[page()])
    answers = await asyncio.gather(*(stage.client.raw("StageWrite", staging) for _ in range(16)))
    assert len(set(answers)) == 1
    found = await stage.client.call("ListStagedWrites", session_id=stage.session_id)
    assert len(found.staged_writes) == 2


async def test_entries_for_one_head_at_once(stage: Stage) -> None:
    """The head moves once for each that names it."""
    base = await stage.turn()
    entries = [await stage.staged(page(f"answer {n}")) for n in range(6)]

    async def one(entry: Any) -> str:
        try:
            await stage.accept(entry, expected_head=base.floor_id)
        except grpc.aio.AioRpcError as error:
            return refusal_of(error).reason
        return ""

    ends = await asyncio.gather(*(one(entry) for entry in entries))
    assert sorted(ends) == ["", *["HEAD_MOVED"] * 5]
    states = [(await stage.entry(entry)).state for entry in entries]
    assert sorted(states) == [STAGED] * 5 + [ACCEPTED]


async def test_an_entry_goes_with_a_session_that_is_deleted_at_once(stage: Stage) -> None:
    entries = [await stage.staged(page(f"canary {n}")) for n in range(3)]
    deciding = [
        stage.client.call(name, staged_write_id=entry.staged_write_id, reason="canary")
        for name, entry in zip(DECISIONS, entries, strict=True)
    ]
    deleting = stage.client.call("DeleteSession", session_id=stage.session_id)
    ends = await asyncio.gather(*deciding, deleting, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            assert isinstance(end, grpc.aio.AioRpcError)
            assert refusal_of(end).code == "NOT_FOUND"
    assert "canary" not in repr(await stage.rows())


class Clock:
    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


async def test_what_nobody_decides_expires(migrated_url: str) -> None:
    clock = Clock()
    async with a_stage(migrated_url, clock=clock) as stage:
        expiry = stage.service.service.expiry
        entry = await stage.staged(page())
        of_project = await stage.staged(
            patch(add("/systemPrompt", "x")), target={"project_id": stage.project_id}
        )
        decided = await stage.staged(page())
        await decide(stage, "RejectStagedWrite", decided)
        clock.ahead = timedelta(days=29, hours=23)
        assert await expiry.sweep() == 0
        clock.ahead = timedelta(days=30, minutes=1)
        # Its time is up, swept or not.
        for name in DECISIONS:
            refused = await stage.client.refused(name, staged_write_id=entry.staged_write_id, reason="late")
            assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "ALREADY_DECIDED")
            assert refused.metadata == {"state": "STAGED_WRITE_STATE_EXPIRED"}
        young = await stage.staged(page())
        count = len(await stage.types())
        assert await expiry.sweep() == 2
        assert await expiry.sweep() == 0
        for one in (entry, of_project):
            ended = await stage.entry(one)
            assert (ended.state, ended.decided_by, ended.decision_reason) == (EXPIRED, "system", REASON)
            assert ended.HasField("decide_time")
        assert (await stage.entry(young)).state == STAGED
        assert (await stage.entry(decided)).state == REJECTED
        assert await stage.types(count) == ["staged_write.expired"] * 2
        payload = json.loads((await stage.events())[-1].payload_json)
        assert payload["principal"] == "system"


async def test_sweepers_and_reviewers_at_once(migrated_url: str) -> None:
    """Replicas sweep side by side: each entry has one end and one event."""
    async with a_stage(migrated_url) as stage:
        service = stage.service.service
        entries = [await stage.staged(page(f"answer {n}")) for n in range(12)]
        count = len(await stage.types())
        engines = service.store._engines
        others = [Expiry(service.env, Ledgers(engines).expired) for _ in range(3)]

        async def accept(entry: Any) -> str:
            try:
                await stage.accept(entry, allow_stale=True)
            except grpc.aio.AioRpcError as error:
                return refusal_of(error).reason
            return ""

        reviewing = [asyncio.create_task(accept(entry)) for entry in entries[:6]]
        async with engines.writing() as connection:
            past = datetime.now(UTC) - timedelta(seconds=1)
            await connection.execute(update(staged_write).values(expire_time=past))
        ended = await asyncio.gather(*(other.sweep() for other in others))
        assert set(await asyncio.gather(*reviewing)) <= {"", "ALREADY_DECIDED"}
        types = await stage.types(count)
        assert types.count("staged_write.expired") == sum(ended)
        states = [(await stage.entry(entry)).state for entry in entries]
        assert states.count(EXPIRED) == sum(ended)
        assert states.count(ACCEPTED) == types.count("staged_write.accepted") == 12 - sum(ended)
