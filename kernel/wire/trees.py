"""Floors, pages, branches and runs as the contract shows them."""

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2, session_pb2

from kernel.tree.model import Branch, HeadMove, Page, Position, Usage
from kernel.verbs.answers import Shown
from kernel.verbs.records import Run, Session
from kernel.wire.config import config_pb
from kernel.wire.floor_bytes import floor_bytes, page_bytes, position_bytes

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time_pb(time: datetime | None) -> Timestamp | None:
    if time is None:
        return None
    # `FromDatetime` takes several times as long, and each answer has a few of them.
    since = time - _EPOCH
    return Timestamp(seconds=since.days * 86_400 + since.seconds, nanos=since.microseconds * 1000)


def page_pb(page: Page, before: str, *, bodies: bool = True) -> message_pb2.Page:
    """`before` is the id of the message before the page's first."""
    return message_pb2.Page.FromString(page_bytes(page, before, bodies=bodies))


def floor_pb(shown: Shown, *, bodies: bool = True) -> floor_pb2.Floor:
    return floor_pb2.Floor.FromString(floor_bytes(shown, bodies=bodies))


def usage_pb(usage: Usage | None) -> floor_pb2.Usage | None:
    if usage is None:
        return None
    return floor_pb2.Usage(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, estimated=usage.estimated)


def position_pb(position: Position) -> floor_pb2.Position:
    return floor_pb2.Position.FromString(position_bytes(position))


def maybe_branch_pb(branch: Branch | None) -> floor_pb2.Branch | None:
    return None if branch is None else branch_pb(branch)


def branch_pb(branch: Branch) -> floor_pb2.Branch:
    return floor_pb2.Branch(
        name=branch.name,
        head_floor_id=branch.head_floor_id,
        pending_floor_id=branch.pending_floor_id or "",
        failed_floor_id=branch.failed_floor_id or "",
        depth=branch.depth,
        version=branch.version,
        create_time=time_pb(branch.create_time),
        update_time=time_pb(branch.update_time),
    )


def head_move_pb(move: HeadMove) -> floor_pb2.HeadMove:
    return floor_pb2.HeadMove(
        branch=move.branch,
        from_floor_id=move.from_floor_id,
        to_floor_id=move.to_floor_id,
        kind=move.kind,
        principal=move.principal,
        move_time=time_pb(move.move_time),
    )


def session_pb(session: Session) -> session_pb2.Session:
    return session_pb2.Session(
        session_id=session.session_id,
        project_id=session.project_id,
        title=session.title,
        state=f"SESSION_STATE_{session.state.name}",
        config=config_pb(session.config),
        version=session.version,
        root_floor_id=session.root_floor_id,
        create_time=time_pb(session.create_time),
        update_time=time_pb(session.update_time),
        last_activity_time=time_pb(session.last_activity_time),
    )


def run_pb(run: Run) -> run_pb2.Run:
    return run_pb2.Run(
        run_id=run.run_id,
        session_id=run.session_id,
        floor_id=run.floor_id,
        state=f"RUN_STATE_{run.state.name}",
        failure_reason=run.failure_reason,
        usage=usage_pb(run.usage),
        create_time=time_pb(run.create_time),
        end_time=time_pb(run.end_time),
        epoch=run.epoch,
        seq=run.last_seq,
    )
