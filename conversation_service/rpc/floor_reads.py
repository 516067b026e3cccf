"""FloorService, what only reads."""

from stemma.conversation.v1 import floor_service_pb2 as pb

from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.tree.model import Page, Place, Slot
from kernel.verbs import queries
from kernel.verbs.answers import Shown, message_id
from kernel.verbs.env import MAIN, Env, known_session
from kernel.wire.requests import caller_of, listing
from kernel.wire.trees import branch_pb, floor_pb, head_move_pb, page_pb, position_pb

_MAX_VERSIONS_SHOWN = 100


class FloorReads:
    def __init__(self, env: Env, tokens: PageTokens) -> None:
        self._env = env
        self._tokens = tokens

    async def get_floor(self, request: pb.GetFloorRequest, call: Call) -> pb.GetFloorResponse:
        floor_id = uuid_field(request.floor_id, "floor_id")
        placed = await queries.get_floor(self._env, caller_of(call), floor_id)
        return pb.GetFloorResponse(floor=floor_pb(placed.shown), position=position_pb(placed.position))

    async def list_siblings(self, request: pb.ListSiblingsRequest, call: Call) -> pb.ListSiblingsResponse:
        floor_id, branch = uuid_field(request.floor_id, "floor_id"), branch_name(request.branch, MAIN)
        page = listing(self._tokens, request, call, {"f": floor_id, "b": branch})
        after = -1 if page.last is None else page.last
        found = await queries.list_siblings(self._env, caller_of(call), floor_id, branch, after, page.size)
        return pb.ListSiblingsResponse(
            floors=[floor_pb(p.shown) for p in found.placed],
            positions=[position_pb(p.position) for p in found.placed],
            next_page_token="" if found.last_ordinal is None else page.token(found.last_ordinal),
            current_floor_id=found.current_floor_id,
        )

    async def list_pages(self, request: pb.ListPagesRequest, call: Call) -> pb.ListPagesResponse:
        floor_id = uuid_field(request.floor_id, "floor_id")
        page = listing(self._tokens, request, call, {"f": floor_id})
        size = min(page.size, _MAX_VERSIONS_SHOWN)
        found = await queries.list_pages(self._env, caller_of(call), floor_id, page.last or 0, size)
        inputs = found.floor.input
        last_input = message_id(inputs, len(inputs.content.facts) - 1) if inputs else found.before

        def shown(version: Page) -> str:
            return found.before if version.slot is Slot.INPUT else last_input

        return pb.ListPagesResponse(
            pages=[page_pb(version, shown(version)) for _, version in found.pages],
            next_page_token=page.token(found.pages[-1][0]) if found.more else "",
            input_page_id=inputs.page_id if inputs else "",
            output_page_id=found.floor.output.page_id if found.floor.output else "",
        )

    async def get_tree(self, request: pb.GetTreeRequest, call: Call) -> pb.GetTreeResponse:
        session_id = uuid_field(request.session_id, "session_id")
        page = listing(self._tokens, request, call, {"s": session_id})
        after = Place(*page.last) if page.last else None
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            await known_session(tx, session_id)
            found = await tx.tree(session_id, after, page.size + 1)
        shown = found[: page.size]
        last = shown[-1].place
        return pb.GetTreeResponse(
            floors=[floor_pb(Shown(floor, ""), bodies=False) for floor in shown],
            next_page_token=page.token([last.segment, last.depth]) if len(found) > page.size else "",
        )

    async def list_branches(self, request: pb.ListBranchesRequest, call: Call) -> pb.ListBranchesResponse:
        session_id = uuid_field(request.session_id, "session_id")
        page = listing(self._tokens, request, call, {"s": session_id})
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            await known_session(tx, session_id)
            found = await tx.branches(session_id, page.last or "", page.size + 1)
        shown = found[: page.size]
        return pb.ListBranchesResponse(
            branches=[branch_pb(branch) for branch in shown],
            next_page_token=page.token(shown[-1].name) if len(found) > page.size else "",
        )

    async def list_head_moves(self, request: pb.ListHeadMovesRequest, call: Call) -> pb.ListHeadMovesResponse:
        session_id, branch = (
            uuid_field(request.session_id, "session_id"),
            branch_name(request.branch, MAIN),
        )
        page = listing(self._tokens, request, call, {"s": session_id, "b": branch})
        async with self._env.store.reading(call.identity.tenant_id) as tx:
            await known_session(tx, session_id)
            found = await tx.head_moves(session_id, branch, page.last, page.size + 1)
        shown = found[: page.size]
        return pb.ListHeadMovesResponse(
            head_moves=[head_move_pb(move) for _, move in shown],
            next_page_token=page.token(shown[-1][0]) if len(found) > page.size else "",
        )
