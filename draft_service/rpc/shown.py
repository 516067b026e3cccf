"""Drafts, floors and runs as the contract shows them."""

from stemma.draft.v1 import draft_pb2
from stemma.kernel.v1 import floor_pb2, run_pb2

from draft_service.domain.draft import Draft
from kernel.verbs.answers import Answered
from kernel.wire.trees import floor_pb, time_pb


def draft_pb(draft: Draft) -> draft_pb2.Draft:
    return draft_pb2.Draft(
        draft_id=draft.draft_id,
        project_id=draft.source.project_id,
        source_session_id=draft.source.session_id,
        source_floor_id=draft.source.floor_id,
        snapshot_digest=draft.snapshot_digest,
        config_digest=draft.config_digest,
        title=draft.title,
        purpose=draft.purpose,
        state=f"DRAFT_STATE_{draft.state.name}",
        retention_policy=f"RETENTION_POLICY_{draft.retention.name}",
        visibility=f"VISIBILITY_{draft.visibility.name}",
        metadata=draft.metadata,
        origin=_origin(draft),
        created_by=draft.created_by,
        ended_by=draft.ended_by,
        end_reason=draft.end_reason,
        create_time=time_pb(draft.create_time),
        update_time=time_pb(draft.update_time),
        last_activity_time=time_pb(draft.last_activity_time),
        expire_time=time_pb(draft.expire_time),
        end_time=time_pb(draft.end_time),
        purge_time=time_pb(draft.purge_time),
    )


def _origin(draft: Draft) -> draft_pb2.DraftOrigin | None:
    if not draft.origin_run_id and not draft.origin_draft_id:
        return None
    return draft_pb2.DraftOrigin(run_id=draft.origin_run_id, parent_draft_id=draft.origin_draft_id)


def answered_floor(done: Answered) -> floor_pb2.Floor:
    assert done.shown is not None
    return floor_pb(done.shown)


def in_draft(run: run_pb2.Run) -> run_pb2.Run:
    """With the draft's id in place of a session's."""
    run.draft_id, run.session_id = run.session_id, ""
    return run
