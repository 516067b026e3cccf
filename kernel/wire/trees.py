"""Floors, pages, branches and runs as the contract shows them."""

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2, session_pb2

from kernel.tree.model import Branch, HeadMove, Page, Position, Usage
from kernel.verbs.answers import Shown, message_id
from kernel.verbs.records import Run, Session
from kernel.wire.codec import parsed
from kernel.wire.config import config_pb
from kernel.wire.effects import effects_pb


def time_pb(time: datetime | None) -> Timestamp | None:
    if time is None:
        return None
    stamp = Timestamp()
    stamp.FromDatetime(time)
    return stamp


def page_pb(page: Page, before: str, *, bodies: bool = True) -> message_pb2.Page:
    """`before` is the id of the message before the page's first."""
    shown = message_pb2.Page(
        page_id=page.page_id,
        floor_id=page.floor_id,
        slot=message_pb2.Slot.Name(int(page.slot)),
        digest=page.digest.hex(),
        token_count=page.tokens,
        partial=page.partial,
        source=page.source,
        create_time=time_pb(page.create_time),
    )
    if bodies:
        for index, (message, fact) in enumerate(
            zip(parsed(page.content.blob), page.content.facts, strict=True)
        ):
            message.message_id = message_id(page, index)
            message.parent_message_id = before
            message.token_count = fact.tokens
            before = message.message_id
            shown.messages.append(message)
    return shown


def floor_pb(shown: Shown, *, bodies: bool = True) -> floor_pb2.Floor:
    floor, before = shown.floor, shown.before
    result = floor_pb2.Floor(
        floor_id=floor.floor_id,
        session_id=floor.session_id,
        parent_floor_id=floor.parent_floor_id or "",
        depth=floor.place.depth,
        ordinal=floor.ordinal,
        state=f"FLOOR_STATE_{floor.state.name}",
        digest=floor.digest.hex() if floor.digest else "",
        path_tokens=floor.path_tokens,
        usage=usage_pb(floor.usage),
        run_id=floor.run_id or "",
        failure_reason=floor.failure_reason,
        principal=floor.principal,
        create_time=time_pb(floor.create_time),
        commit_time=time_pb(floor.commit_time),
    )
    if floor.input is not None:
        result.input_page.CopyFrom(page_pb(floor.input, before, bodies=bodies))
        if floor.input.content.facts:
            before = message_id(floor.input, len(floor.input.content.facts) - 1)
    if floor.output is not None:
        result.output_page.CopyFrom(page_pb(floor.output, before, bodies=bodies))
    if floor.effects is not None and bodies:
        result.effects.CopyFrom(effects_pb(floor.effects))
    return result


def usage_pb(usage: Usage | None) -> floor_pb2.Usage | None:
    if usage is None:
        return None
    return floor_pb2.Usage(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, estimated=usage.estimated)


def position_pb(position: Position) -> floor_pb2.Position:
    return floor_pb2.Position(
        floor_id=position.floor_id,
        input_index=position.input_index,
        input_count=position.input_count,
        output_index=position.output_index,
        output_count=position.output_count,
    )


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
    )
