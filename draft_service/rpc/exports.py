"""DraftService: the way out, and what models proposed for it."""

from collections.abc import Sequence

from stemma.draft.v1 import draft_service_pb2 as pb
from stemma.kernel.v1 import staged_write_pb2

from draft_service.app.exports import ExportAsk, export_draft
from draft_service.app.world import World
from draft_service.domain.exports import ExportPart, PagePart, Proposal, ProposalPart
from draft_service.rpc.checks import DEFAULT_PROJECT, seen_draft_id
from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, enum_field, reason, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import MAIN
from kernel.verbs.staged_store import Placement, StagedConfig, StagedEffects, StagedTarget
from kernel.wire.requests import listing, write_of
from kernel.wire.staged import part_of, part_pb
from kernel.wire.trees import time_pb

_MAX_PARTS = 3


class Exports:
    def __init__(self, world: World, tokens: PageTokens) -> None:
        self._world = world
        self._tokens = tokens

    async def export_draft(self, request: pb.ExportDraftRequest, call: Call) -> pb.ExportDraftResponse:
        write, target, parts = write_of(request, call), _target(request), _parts(request.parts)
        why = reason(request.reason)
        draft_id = await seen_draft_id(self._world, request, call)
        ask = ExportAsk(draft_id, target, parts, why, request.finalize)
        export = await export_draft(self._world, write, ask)
        return pb.ExportDraftResponse(
            staged_write_id=export.staged_write_id,
            source_page_id=export.source_page_id,
            state=f"EXPORT_STATE_{export.state.name}",
        )

    async def list_proposals(self, request: pb.ListProposalsRequest, call: Call) -> pb.ListProposalsResponse:
        draft_id = await seen_draft_id(self._world, request, call)
        page = listing(self._tokens, request, call, {"d": draft_id})
        async with self._world.store.reading(call.identity.tenant_id) as tx:
            found = await tx.proposals(draft_id, page.last or 0, page.size + 1)
        shown = found[: page.size]
        return pb.ListProposalsResponse(
            proposals=map(_proposal_pb, shown),
            next_page_token=page.token(shown[-1].number) if len(found) > page.size else "",
        )


def _target(request: pb.ExportDraftRequest) -> StagedTarget:
    if not request.HasField("target"):
        raise invalid("target", "is required")
    target = request.target
    placement = enum_field(target.placement, staged_write_pb2.Placement, "target.placement", 0)
    found = StagedTarget(
        uuid_field(target.project_id, "target.project_id", required=False, also=(DEFAULT_PROJECT,)),
        uuid_field(target.session_id, "target.session_id", required=False),
        branch_name(target.branch, MAIN, "target.branch") if target.branch else "",
        uuid_field(target.floor_id, "target.floor_id", required=False),
        Placement(placement),
    )
    if found.project_id and (found.session_id or found.floor_id):
        raise invalid("target.session_id", "or project_id, and not both")
    return found


def _parts(parts: Sequence[pb.ExportPart]) -> list[ExportPart]:
    if not 1 <= len(parts) <= _MAX_PARTS:
        raise invalid("parts", f"has 1 to {_MAX_PARTS} of them")
    return [_part(part, f"parts[{number}]") for number, part in enumerate(parts)]


def _part(part: pb.ExportPart, field: str) -> ExportPart:
    match part.WhichOneof("part"):
        case "output_page":
            page_id = uuid_field(part.output_page.page_id, f"{field}.output_page.page_id", required=False)
            return PagePart(page_id, part.output_page.with_input)
        case "proposal_id":
            return ProposalPart(uuid_field(part.proposal_id, f"{field}.proposal_id"))
        case "config_patch":
            given = staged_write_pb2.StagedPart(config_patch=part.config_patch)
        case "state_patch":
            given = staged_write_pb2.StagedPart(state_patch=part.state_patch)
        case _:
            raise invalid(field, "one of output_page, proposal_id, config_patch and state_patch is required")
    checked = part_of(given, field)
    assert isinstance(checked, StagedConfig | StagedEffects)
    return checked


def _proposal_pb(proposal: Proposal) -> pb.Proposal:
    content = part_pb(proposal.part)
    return pb.Proposal(
        proposal_id=proposal.proposal_id,
        draft_id=proposal.draft_id,
        floor_id=proposal.floor_id,
        run_id=proposal.run_id,
        config_patch=content.config_patch if content.HasField("config_patch") else None,
        state_patch=content.state_patch if content.HasField("state_patch") else None,
        create_time=time_pb(proposal.create_time),
    )
