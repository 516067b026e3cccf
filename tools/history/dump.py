"""Reads all that is there: through the public API what that shows, requests and events from the database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Table, select
from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.storage import tables as t
from kernel.storage.engine import Engines
from tools.history.content import said
from tools.history.model import (
    BranchRow,
    Dump,
    EventRow,
    FeedRow,
    FloorRow,
    MoveRow,
    PageRow,
    RequestRow,
    SessionRow,
)
from tools.history.wire import Caller

# Whose floors have versions of their output besides the one that they committed.
_OF_OPENED_FLOORS = frozenset({"OpenFloor", "AddPage"})
_AT_ONCE = 8


async def dump(database_url: str, address: str) -> Dump:
    """Everything of a service and its database (a URL as the service's settings take it).

    Call it when nothing is under way: it is many reads, not one. One call per floor that is on no path.
    Raises grpc.aio.AioRpcError and what the database raises.
    """
    found = Dump()
    await _read_database(found, database_url)
    caller = Caller(address)
    try:
        opened: dict[str, set[str]] = {}
        for row in found.requests:
            if row.method in _OF_OPENED_FLOORS:
                opened.setdefault(row.session_id, set()).add(row.floor_id)
        async for session in caller.everything("ListSessions", "sessions"):
            found.sessions.append(SessionRow(session.session_id, session.project_id, session.root_floor_id))
            await _read_session(found, caller, session.session_id, opened.get(session.session_id, set()))
    finally:
        await caller.close()
    return found


async def _read_session(found: Dump, caller: Caller, session_id: str, opened: Iterable[str]) -> None:
    whole: dict[str, floor_pb2.Floor] = {}
    async for branch in caller.everything("ListBranches", "branches", session_id=session_id):
        fields = {"session_id": session_id, "branch": branch.name}
        path = [floor async for floor in caller.everything("ListPath", "floors", **fields)]
        whole.update((floor.floor_id, floor) for floor in path)
        ids = tuple(floor.floor_id for floor in path)
        head, pending = branch.head_floor_id, branch.pending_floor_id
        found.branches.append(BranchRow(session_id, branch.name, head, pending, branch.version, ids))
        moves = [move async for move in caller.everything("ListHeadMoves", "head_moves", **fields)]
        for move in reversed(moves):
            ends = move.from_floor_id, move.to_floor_id
            found.moves.append(MoveRow(session_id, move.branch, *ends, move.kind))
    tree = [
        outline.floor_id async for outline in caller.everything("GetTree", "floors", session_id=session_id)
    ]
    off = [floor_id for floor_id in tree if floor_id not in whole]
    for start in range(0, len(off), _AT_ONCE):
        calls = [caller.read("GetFloor", floor_id=floor_id) for floor_id in off[start : start + _AT_ONCE]]
        whole.update((answer.floor.floor_id, answer.floor) for answer in await asyncio.gather(*calls))
    found.floors += [floor_row(whole[floor_id]) for floor_id in tree]
    for floor_id in opened:
        async for page in caller.everything("ListPages", "pages", floor_id=floor_id):
            if page.slot == message_pb2.SLOT_OUTPUT:
                found.pages.append(PageRow(page.page_id, floor_id, said(page.messages)))


def floor_row(floor: floor_pb2.Floor) -> FloorRow:
    """A floor with its messages, as it is shown."""
    return FloorRow(
        floor.session_id,
        floor.floor_id,
        floor.parent_floor_id,
        state_of(floor),
        floor.depth,
        floor.ordinal,
        floor.digest,
        said(floor.input_page.messages),
        said(floor.output_page.messages),
        floor.output_page.page_id,
        floor.principal,
    )


def state_of(floor: floor_pb2.Floor) -> str:
    return floor_pb2.FloorState.Name(floor.state).removeprefix("FLOOR_STATE_").lower()


async def _read_database(found: Dump, database_url: str) -> None:
    engines = Engines(database_url)
    try:
        async with engines.reading() as connection:

            async def rows(table: Table) -> Iterable[Any]:
                return (await connection.execute(select(table))).mappings()

            found.requests += [_request(row) for row in await rows(t.request)]
            found.events += [_event(row) for row in await rows(t.event)]
            found.feeds += [
                FeedRow(row["project_id"], row["last"], row["tenant_id"]) for row in await rows(t.feed)
            ]
    finally:
        await engines.close()


def _request(row: Any) -> RequestRow:
    answer = json.loads(row["answer"])
    branch = answer.get("branch") or {}
    return RequestRow(
        row["method"].rpartition("/")[2],
        row["request_id"],
        row["fingerprint"].hex(),
        row["tenant_id"],
        row["principal"],
        answer.get("session_id", ""),
        answer.get("floor_id", ""),
        answer.get("floor_state", ""),
        answer.get("page_id", ""),
        branch.get("name", ""),
        branch.get("head_floor_id", ""),
        branch.get("version", 0),
    )


def _event(row: Any) -> EventRow:
    payload = json.loads(row["payload"] or "{}")
    return EventRow(
        row["project_id"],
        row["position"],
        row["event_id"],
        row["type"],
        row["session_id"] or "",
        row["floor_id"] or "",
        payload.get("branch", ""),
        payload.get("from_floor_id", ""),
        payload.get("to_floor_id", ""),
        payload.get("kind", ""),
        row["tenant_id"],
    )
