"""StagedWriteService."""

from collections.abc import Sequence

from stemma.conversation.v1 import staged_write_service_pb2 as pb
from stemma.kernel.v1 import staged_write_pb2

from conversation_service.app import accepting, staged_previews, staging
from conversation_service.domain.staged_text import clipped, diff_text
from conversation_service.rpc.changes import page_of
from conversation_service.rpc.projects import MAX_PRINCIPAL, project_field
from kernel.errors import FailedPrecondition, invalid
from kernel.generation.registry import Providers
from kernel.prompt import json_patch
from kernel.prompt.config import Config
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, reason, text_field, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import MAIN, Env
from kernel.verbs.staged_store import Placement, StagedFilter, StagedPart, StagedTarget, StagedWrite
from kernel.wire.config_patch import document, does_not_apply, patch_of, patched
from kernel.wire.projects import project_pb
from kernel.wire.requests import caller_of, listing, write_of
from kernel.wire.staged import only_of_project, origin_of, parts_of, placement_of, staged_pb, state_of
from kernel.wire.trees import floor_pb, maybe_branch_pb, session_pb

_OPERATIONS = "operations_json"


class ConfigPatches:
    """`accepting.Patching`."""

    def __init__(self, providers: Providers, call: Call) -> None:
        self._providers = providers
        self._tenant = call.identity.tenant_id

    def patched(self, layer: Config, operations_json: str, version: int) -> Config:
        try:
            return patched(layer, patch_of(operations_json, _OPERATIONS), "config", self._admitted)
        except json_patch.DoesNotApply as fault:
            current = {"current": str(version)}
            raise FailedPrecondition("STALE", does_not_apply(fault), current) from None

    def _admitted(self, config: Config) -> Config:
        return self._providers.admitted(config, "config", self._tenant)

    def changes(self, before: Config, after: Config) -> Sequence[tuple[str, str, str]]:
        found = json_patch.changes(document(before), document(after))
        return [(json_patch.pointer_text(path), old, new) for path, old, new in found]


class StagedWrites:
    def __init__(self, env: Env, providers: Providers, tokens: PageTokens) -> None:
        self._env = env
        self._providers = providers
        self._tokens = tokens

    async def stage_write(self, request: pb.StageWriteRequest, call: Call) -> pb.StageWriteResponse:
        write = write_of(request, call)
        parts = parts_of(request.parts)
        new = staging.NewEntry(
            _target(request.target, parts),
            parts,
            origin_of(request.origin),
            reason(request.reason),
            text_field(request.on_behalf_of, "on_behalf_of", maximum=MAX_PRINCIPAL),
        )
        entry = await staging.stage_write(self._env, write, new)
        return pb.StageWriteResponse(staged_write=staged_pb(entry))

    async def get_staged_write(
        self, request: pb.GetStagedWriteRequest, call: Call
    ) -> pb.GetStagedWriteResponse:
        entry = await staging.get_staged(self._env, caller_of(call), _id(request.staged_write_id))
        return pb.GetStagedWriteResponse(staged_write=staged_pb(entry))

    async def list_staged_writes(
        self, request: pb.ListStagedWritesRequest, call: Call
    ) -> pb.ListStagedWritesResponse:
        where = StagedFilter(
            project_field(request.project_id, required=False),
            uuid_field(request.session_id, "session_id", required=False),
            state_of(request.state),
            uuid_field(request.draft_id, "draft_id", required=False),
            text_field(request.principal, "principal", maximum=MAX_PRINCIPAL),
        )
        filters = [where.project_id, where.session_id, where.state, where.draft_id, where.staged_by]
        page = listing(self._tokens, request, call, {"f": filters})

        async def fetch(last: tuple[str, str] | None, limit: int) -> list[StagedWrite]:
            return await staging.list_staged(self._env, caller_of(call), where, last, limit)

        shown, last = await page_of(page.size, page.last, fetch, _key, lambda e: staged_pb(e, bodies=False))
        token = page.token(last) if last else ""
        return pb.ListStagedWritesResponse(staged_writes=shown, next_page_token=token)

    async def preview_staged_write(
        self, request: pb.PreviewStagedWriteRequest, call: Call
    ) -> pb.PreviewStagedWriteResponse:
        staged_write_id, caller = _id(request.staged_write_id), caller_of(call)
        patches = ConfigPatches(self._providers, call)
        seen = await staged_previews.preview_staged(self._env, caller, staged_write_id, patches)
        changes = [clipped(change) for change in seen.changes]
        return pb.PreviewStagedWriteResponse(
            diff=pb.StagedDiff(
                changes=[
                    pb.StagedChange(part=c.part, path=c.path, before=c.before, after=c.after) for c in changes
                ],
                text=diff_text(changes),
            ),
            stale=seen.stale,
            conflicts=[
                pb.StagedConflict(
                    part=c.part, reason=c.error.reason, message=c.error.message, metadata=c.error.metadata
                )
                for c in seen.conflicts
            ],
            staged_write=staged_pb(seen.entry, bodies=False),
        )

    async def accept_staged_write(
        self, request: pb.AcceptStagedWriteRequest, call: Call
    ) -> pb.AcceptStagedWriteResponse:
        write = write_of(request, call)
        if request.expected_version < 0:
            raise invalid("expected_version", "must not be negative")
        ask = accepting.Accept(
            _id(request.staged_write_id),
            uuid_field(request.expected_head, "expected_head", required=False) or None,
            request.expected_version,
            request.allow_stale,
            request.select,
            reason(request.reason, required=True),
        )
        found = await accepting.accept_staged(self._env, write, ask, ConfigPatches(self._providers, call))
        return pb.AcceptStagedWriteResponse(
            staged_write=staged_pb(found.entry, bodies=False),
            floor=floor_pb(found.done.shown) if found.done.shown else None,
            branch=maybe_branch_pb(found.done.branch),
            project=project_pb(found.project) if found.project else None,
            session=session_pb(found.session) if found.session else None,
        )

    async def reject_staged_write(
        self, request: pb.RejectStagedWriteRequest, call: Call
    ) -> pb.RejectStagedWriteResponse:
        write, why = write_of(request, call), reason(request.reason, required=True)
        entry = await staging.reject_staged(self._env, write, _id(request.staged_write_id), why)
        return pb.RejectStagedWriteResponse(staged_write=staged_pb(entry, bodies=False))

    async def withdraw_staged_write(
        self, request: pb.WithdrawStagedWriteRequest, call: Call
    ) -> pb.WithdrawStagedWriteResponse:
        write, why = write_of(request, call), reason(request.reason, required=True)
        entry = await staging.withdraw_staged(self._env, write, _id(request.staged_write_id), why)
        return pb.WithdrawStagedWriteResponse(staged_write=staged_pb(entry, bodies=False))


def _id(value: str) -> str:
    return uuid_field(value, "staged_write_id")


def _key(entry: StagedWrite) -> list[str]:
    return [entry.create_time.isoformat(), entry.staged_write_id]


def _target(target: staged_write_pb2.StagedTarget, parts: Sequence[StagedPart]) -> StagedTarget:
    project = project_field(target.project_id, required=False)
    session_id = uuid_field(target.session_id, "target.session_id", required=False)
    floor_id = uuid_field(target.floor_id, "target.floor_id", required=False)
    if bool(project) == bool(session_id or floor_id):
        raise invalid("target.session_id", "or project_id is required, and not both")
    placement = placement_of(target, parts)
    if project:
        if target.branch:
            raise invalid("target.branch", "is a session's")
        only_of_project(parts)
        return StagedTarget(project, placement=Placement.NONE)
    branch = branch_name(target.branch, MAIN, "target.branch")
    return StagedTarget("", session_id, branch, floor_id, placement)
