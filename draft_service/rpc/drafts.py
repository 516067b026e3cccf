"""DraftService: drafts themselves, from their creation to their end."""

from typing import Any

from stemma.draft.v1 import draft_pb2
from stemma.draft.v1 import draft_service_pb2 as pb

from draft_service.app.create import create_draft
from draft_service.app.drafts import get_draft, list_drafts
from draft_service.app.ending import end_draft
from draft_service.app.store import DraftFilter
from draft_service.app.world import World
from draft_service.domain.draft import Draft, DraftState
from draft_service.rpc.checks import new_draft_of, seen_draft_id
from draft_service.rpc.shown import draft_pb
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, reason, uuid_field
from kernel.rpc.tokens import Json, PageTokens
from kernel.wire.requests import caller_of, listing, write_of
from kernel.wire.trees import branch_pb

_STATES: dict[int, DraftState] = {
    number: DraftState[name.removeprefix("DRAFT_STATE_")]
    for name, number in draft_pb2.DraftState.items()
    if number
}


class Drafts:
    def __init__(self, world: World, providers: Providers, tokens: PageTokens) -> None:
        self._world = world
        self._providers = providers
        self._tokens = tokens

    async def create_draft(self, request: pb.CreateDraftRequest, call: Call) -> pb.CreateDraftResponse:
        write = write_of(request, call)
        draft, branch = await create_draft(self._world, write, new_draft_of(request, self._providers, call))
        return pb.CreateDraftResponse(draft=draft_pb(draft), branch=branch_pb(branch))

    async def get_draft(self, request: pb.GetDraftRequest, call: Call) -> pb.GetDraftResponse:
        draft_id = uuid_field(request.draft_id, "draft_id")
        return pb.GetDraftResponse(draft=draft_pb(await get_draft(self._world, caller_of(call), draft_id)))

    async def list_drafts(self, request: pb.ListDraftsRequest, call: Call) -> pb.ListDraftsResponse:
        caller = caller_of(call)
        project_id = uuid_field(request.project_id, "project_id", required=False)
        session_id = uuid_field(request.session_id, "session_id", required=False)
        state = enum_field(request.state, draft_pb2.DraftState, "state", 0)
        where = DraftFilter(caller.principal, project_id or None, session_id or None, _STATES.get(state))
        filters: dict[str, Json] = {"u": caller.principal, "p": project_id, "s": session_id, "e": state}
        page = listing(self._tokens, request, call, filters)
        found = await list_drafts(self._world, caller, where, page.last, page.size + 1)
        shown = found[: page.size]
        token = page.token(_key(shown[-1])) if len(found) > page.size else ""
        return pb.ListDraftsResponse(drafts=map(draft_pb, shown), next_page_token=token)

    async def finalize_draft(self, request: pb.FinalizeDraftRequest, call: Call) -> pb.FinalizeDraftResponse:
        return pb.FinalizeDraftResponse(draft=await self._ended(request, call, DraftState.FINALIZED))

    async def discard_draft(self, request: pb.DiscardDraftRequest, call: Call) -> pb.DiscardDraftResponse:
        return pb.DiscardDraftResponse(draft=await self._ended(request, call, DraftState.DISCARDED))

    async def cancel_draft(self, request: pb.CancelDraftRequest, call: Call) -> pb.CancelDraftResponse:
        return pb.CancelDraftResponse(draft=await self._ended(request, call, DraftState.CANCELLED))

    async def _ended(self, request: Any, call: Call, state: DraftState) -> draft_pb2.Draft:
        write, why = write_of(request, call), reason(request.reason)
        draft_id = await seen_draft_id(self._world, request, call)
        return draft_pb(await end_draft(self._world, write, draft_id, state, why))


def _key(draft: Draft) -> list[str]:
    return [draft.create_time.isoformat(), draft.draft_id]
