"""DraftService: the tree of a draft."""

from stemma.draft.v1 import draft_service_pb2 as pb

from draft_service.app.floors import append_message, check_floor
from draft_service.app.transcript import transcript
from draft_service.app.world import World
from draft_service.rpc.checks import seen_draft_id, target_of
from draft_service.rpc.shown import answered_floor
from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import uuid_field
from kernel.rpc.messages import check_message
from kernel.rpc.tokens import PageTokens
from kernel.tree.model import Place
from kernel.verbs import floors, heads, siblings
from kernel.verbs.answers import Shown
from kernel.wire.codec import page_content
from kernel.wire.requests import caller_of, content_of, effects_of, listing, write_of
from kernel.wire.trees import branch_pb, floor_pb, maybe_branch_pb, position_pb


class Floors:
    def __init__(self, world: World, tokens: PageTokens) -> None:
        self._world = world
        self._env = world.env
        self._tokens = tokens

    async def append_message(self, request: pb.AppendMessageRequest, call: Call) -> pb.AppendMessageResponse:
        write, target = write_of(request, call), target_of(request)
        if not request.HasField("message"):
            raise invalid("message", "is required")
        check_message(request.message, "message")
        content = page_content([request.message])
        assert content is not None
        await seen_draft_id(self._world, request, call)
        done = await append_message(self._env, write, target, content)
        return pb.AppendMessageResponse(floor=answered_floor(done), branch=maybe_branch_pb(done.branch))

    async def edit_floor(self, request: pb.EditFloorRequest, call: Call) -> pb.EditFloorResponse:
        write, target = write_of(request, call), target_of(request)
        content = content_of(request.input, "input", required=True)
        assert content is not None
        edit = siblings.Edit(
            uuid_field(request.floor_id, "floor_id"),
            content,
            content_of(request.output, "output"),
            effects_of(request),
        )
        if edit.output is None and request.HasField("effects"):
            raise invalid("effects", "belong to an output: without one the floor stays open")
        await seen_draft_id(self._world, request, call)
        done = await siblings.edit_floor(self._env, write, target, edit)
        return pb.EditFloorResponse(floor=answered_floor(done), branch=maybe_branch_pb(done.branch))

    async def regenerate_floor(
        self, request: pb.RegenerateFloorRequest, call: Call
    ) -> pb.RegenerateFloorResponse:
        write, target = write_of(request, call), target_of(request)
        if request.output and request.from_page_id:
            raise invalid("from_page_id", "not together with output")
        ask = siblings.Regenerate(
            uuid_field(request.floor_id, "floor_id"),
            content_of(request.output, "output"),
            uuid_field(request.from_page_id, "from_page_id", required=False),
            effects_of(request),
        )
        if ask.output is None and not ask.from_page_id and request.HasField("effects"):
            raise invalid("effects", "belong to an output: without one the floor stays open")
        await seen_draft_id(self._world, request, call)
        done = await siblings.regenerate_floor(self._env, write, target, ask)
        return pb.RegenerateFloorResponse(floor=answered_floor(done), branch=maybe_branch_pb(done.branch))

    async def commit_floor(self, request: pb.CommitFloorRequest, call: Call) -> pb.CommitFloorResponse:
        write, floor_id = write_of(request, call), uuid_field(request.floor_id, "floor_id")
        page_id = uuid_field(request.page_id, "page_id", required=False)
        head = uuid_field(request.expected_head, "expected_head", required=False) or None
        effects = effects_of(request)
        draft_id = await seen_draft_id(self._world, request, call)
        await check_floor(self._env, write, draft_id, floor_id)
        done = await floors.commit_floor(self._env, write, floor_id, page_id, head, effects)
        return pb.CommitFloorResponse(floor=answered_floor(done), branch=maybe_branch_pb(done.branch))

    async def move_head(self, request: pb.MoveHeadRequest, call: Call) -> pb.MoveHeadResponse:
        write, target = write_of(request, call), target_of(request)
        floor_id = uuid_field(request.floor_id, "floor_id")
        await seen_draft_id(self._world, request, call)
        done = await heads.move_to(self._env, write, target, floor_id)
        return pb.MoveHeadResponse(branch=maybe_branch_pb(done.branch))

    async def select_sibling(self, request: pb.SelectSiblingRequest, call: Call) -> pb.SelectSiblingResponse:
        write, target = write_of(request, call), target_of(request)
        floor_id = uuid_field(request.floor_id, "floor_id")
        await seen_draft_id(self._world, request, call)
        done = await heads.select_sibling(self._env, write, target, floor_id)
        return pb.SelectSiblingResponse(branch=maybe_branch_pb(done.branch))

    async def get_tree(self, request: pb.GetTreeRequest, call: Call) -> pb.GetTreeResponse:
        draft_id = await seen_draft_id(self._world, request, call)
        page = listing(self._tokens, request, call, {"d": draft_id})
        after = Place(*page.last) if page.last else None
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            found = await tx.tree(draft_id, after, page.size + 1)
        shown = found[: page.size]
        last = shown[-1].place
        return pb.GetTreeResponse(
            floors=[floor_pb(Shown(floor, ""), bodies=False) for floor in shown],
            next_page_token=page.token([last.segment, last.depth]) if len(found) > page.size else "",
        )

    async def get_transcript(self, request: pb.GetTranscriptRequest, call: Call) -> pb.GetTranscriptResponse:
        draft_id = uuid_field(request.draft_id, "draft_id")
        page = listing(self._tokens, request, call, {"d": draft_id, "s": request.include_snapshot})
        head, start = page.last or ("", 0)
        found = await transcript(
            self._world, caller_of(call), draft_id, head, start, page.size, request.include_snapshot
        )
        return pb.GetTranscriptResponse(
            snapshot_floors=map(floor_pb, found.frozen),
            floors=[floor_pb(placed.shown) for placed in found.own],
            positions=[position_pb(placed.position) for placed in found.own],
            pending_floor=floor_pb(found.pending) if found.pending else None,
            branch=branch_pb(found.branch),
            next_page_token="" if found.next is None else page.token([found.head_floor_id, found.next]),
        )
