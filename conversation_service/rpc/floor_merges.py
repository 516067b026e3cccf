"""FloorService, where branches meet."""

from stemma.conversation.v1 import floor_service_pb2 as pb

from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs import merge
from kernel.verbs.answers import Shown
from kernel.verbs.env import MAIN, Env
from kernel.wire.requests import caller_of, listing, target_of, write_of
from kernel.wire.trees import floor_pb, maybe_branch_pb


class FloorMerges:
    def __init__(self, env: Env, tokens: PageTokens) -> None:
        self._env = env
        self._tokens = tokens

    async def diff_branches(self, request: pb.DiffBranchesRequest, call: Call) -> pb.DiffBranchesResponse:
        session_id = uuid_field(request.session_id, "session_id")
        base, target = branch_name(request.base, MAIN, "base"), branch_name(request.target, "", "target")
        page = listing(self._tokens, request, call, {"s": session_id, "b": base, "t": target})
        query = merge.DiffQuery(
            session_id, base, target, page.size, merge.Mark(*page.last) if page.last else None
        )
        found = await merge.diff_branches(self._env, caller_of(call), query)
        return pb.DiffBranchesResponse(
            fork_floor=floor_pb(Shown(found.fork, ""), bodies=False),
            base_head_floor_id=found.base_head.floor_id,
            target_head_floor_id=found.target_head.floor_id,
            base_count=found.base_head.place.depth - found.fork.place.depth,
            target_count=found.target_head.place.depth - found.fork.place.depth,
            base_floors=[floor_pb(shown) for shown in found.base],
            target_floors=[floor_pb(shown) for shown in found.target],
            next_page_token=page.token(list(found.next)) if found.next else "",
        )

    async def merge_branch(self, request: pb.MergeBranchRequest, call: Call) -> pb.MergeBranchResponse:
        write, target = write_of(request, call), target_of(request)
        source = branch_name(request.source_branch, "", "source_branch")
        done = await merge.merge_branch(self._env, write, target, source)
        return pb.MergeBranchResponse(branch=maybe_branch_pb(done.branch))
