"""What the servicers share: access, targets, and the fields of a new draft."""

from datetime import timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from stemma.draft.v1 import draft_pb2
from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.kernel.v1 import floor_pb2

from draft_service.app.create import NewDraft
from draft_service.app.drafts import get_draft
from draft_service.app.world import Wanted, World
from draft_service.domain.draft import Retention, Visibility
from kernel.errors import invalid
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, text_field, uuid_field
from kernel.verbs.env import MAIN, Target
from kernel.wire.requests import ABANDON, caller_of, config_of

_MAX_PURPOSE, _MAX_TITLE, _MAX_ENTRIES, _MAX_KEY, _MAX_VALUE = 120, 500, 64, 128, 1024
_MAX_TTL_SECONDS = 24 * 3600
DEFAULT_PROJECT = "default"


async def seen_draft_id(world: World, request: Any, call: Call) -> str:
    """The request's draft, which is there for this caller: the first check of every call on one."""
    draft_id = uuid_field(request.draft_id, "draft_id")
    await get_draft(world, caller_of(call), draft_id)
    return draft_id


def target_of(request: Any) -> Target:
    """The fields that every write on a draft's branch has."""
    on_pending = enum_field(
        request.on_pending, floor_pb2.OnPending, "on_pending", floor_pb2.ON_PENDING_REFUSE
    )
    head = uuid_field(request.expected_head, "expected_head", required=False)
    draft_id = uuid_field(request.draft_id, "draft_id")
    return Target(draft_id, MAIN, head or None, on_pending == ABANDON)


def new_draft_of(request: pb.CreateDraftRequest, providers: Providers, call: Call) -> NewDraft:
    retention = Retention(
        enum_field(
            request.retention_policy,
            draft_pb2.RetentionPolicy,
            "retention_policy",
            draft_pb2.RETENTION_POLICY_DELETE_ON_FINALIZE,
        )
    )
    visibility = enum_field(
        request.visibility, draft_pb2.Visibility, "visibility", draft_pb2.VISIBILITY_CLIENT_VISIBLE
    )
    return NewDraft(
        _wanted(request),
        text_field(request.purpose, "purpose", maximum=_MAX_PURPOSE, required=True),
        text_field(request.title, "title", maximum=_MAX_TITLE),
        retention,
        _ttl(request, retention),
        Visibility(visibility),
        config_of(request.config, "config", providers, call),
        request.replace_system_prompt,
        _metadata(request),
        uuid_field(request.origin.run_id, "origin.run_id", required=False),
        uuid_field(request.origin.parent_draft_id, "origin.parent_draft_id", required=False),
    )


def _wanted(request: pb.CreateDraftRequest) -> Wanted:
    position = enum_field(
        request.position, draft_pb2.DraftPosition, "position", draft_pb2.DRAFT_POSITION_AFTER_FLOOR
    )
    match request.WhichOneof("source"):
        case "session_id":
            return Wanted(
                session_id=uuid_field(request.session_id, "session_id"),
                floor_id=uuid_field(request.floor_id, "floor_id", required=False),
                history=request.include_history or not request.HasField("include_history"),
                reply=position == draft_pb2.DRAFT_POSITION_REPLY_TO_FLOOR,
            )
        case "project_id":
            for field, given in (
                ("floor_id", bool(request.floor_id)),
                ("position", bool(request.position)),
                ("include_history", request.HasField("include_history")),
            ):
                if given:
                    raise invalid(field, "not with a project: it has no floors")
            project = uuid_field(request.project_id, "project_id", also=(DEFAULT_PROJECT,))
            return Wanted(project_id=project, history=False)
        case _:
            raise invalid("session_id", "or project_id is required")


def _ttl(request: pb.CreateDraftRequest, retention: Retention) -> timedelta | None:
    wanted = retention is Retention.TTL
    if request.HasField("ttl") != wanted:
        raise invalid("ttl", "is required with RETENTION_POLICY_TTL" if wanted else "is for that policy only")
    return _duration(request.ttl) if wanted else None


def _duration(ttl: Duration) -> timedelta:
    whole = 0 <= ttl.nanos < 1_000_000_000
    if (
        not whole
        or not 1 <= ttl.seconds <= _MAX_TTL_SECONDS
        or (ttl.seconds == _MAX_TTL_SECONDS and ttl.nanos)
    ):
        raise invalid("ttl", "must be 1 s to 24 h")
    return timedelta(seconds=ttl.seconds, microseconds=ttl.nanos // 1000)


def _metadata(request: pb.CreateDraftRequest) -> dict[str, str]:
    if len(request.metadata) > _MAX_ENTRIES:
        raise invalid("metadata", f"has at most {_MAX_ENTRIES} entries")
    for key, value in request.metadata.items():
        text_field(key, "metadata", maximum=_MAX_KEY, required=True)
        text_field(value, "metadata", maximum=_MAX_VALUE)
    return dict(sorted(request.metadata.items()))
