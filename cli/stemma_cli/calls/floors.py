"""FloorService: reading trees, moving heads, branches."""

from collections.abc import Sequence
from typing import Any

import grpc
from stemma.conversation.v1 import floor_service_pb2, floor_service_pb2_grpc
from stemma.kernel.v1 import floor_pb2, message_pb2

from stemma_cli.calls.base import PAGE, TIMEOUT, Calls, new_request_id
from stemma_cli.errors import api_error


class FloorCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._floors: Any = floor_service_pb2_grpc.FloorServiceStub(channel)  # type: ignore[no-untyped-call]

    # Reading

    def get_floor(self, floor_id: str) -> floor_service_pb2.GetFloorResponse:
        return self._call(
            self._floors.GetFloor,
            floor_service_pb2.GetFloorRequest(floor_id=floor_id),
            floor_service_pb2.GetFloorResponse,
        )

    def get_floors(self, floor_ids: Sequence[str]) -> list[floor_service_pb2.GetFloorResponse]:
        """Several, on their way at once."""
        calls = [
            self._floors.GetFloor.future(floor_service_pb2.GetFloorRequest(floor_id=one), timeout=TIMEOUT)
            for one in floor_ids
        ]
        try:
            return [call.result() for call in calls]
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None

    def path_page(
        self,
        session_id: str,
        floor_id: str,
        *,
        newest_first: bool = False,
        size: int = PAGE,
        token: str = "",
    ) -> floor_service_pb2.ListPathResponse:
        """One page of the path to a floor."""
        order = floor_pb2.PATH_ORDER_HEAD_FIRST if newest_first else floor_pb2.PATH_ORDER_ROOT_FIRST
        request = floor_service_pb2.ListPathRequest(
            session_id=session_id, floor_id=floor_id, order=order, page_size=size, page_token=token
        )
        return self._call(self._floors.ListPath, request, floor_service_pb2.ListPathResponse)

    def get_tree(self, session_id: str) -> floor_service_pb2.GetTreeResponse:
        whole = floor_service_pb2.GetTreeResponse()
        request = floor_service_pb2.GetTreeRequest(session_id=session_id, page_size=PAGE)
        for page in self._pages(self._floors.GetTree, request):
            whole.floors.extend(page.floors)
        return whole

    def list_siblings(self, floor_id: str, branch: str) -> floor_service_pb2.ListSiblingsResponse:
        whole = floor_service_pb2.ListSiblingsResponse()
        request = floor_service_pb2.ListSiblingsRequest(floor_id=floor_id, branch=branch, page_size=PAGE)
        for page in self._pages(self._floors.ListSiblings, request):
            whole.floors.extend(page.floors)
            whole.positions.extend(page.positions)
            whole.current_floor_id = page.current_floor_id
        return whole

    def list_branches(self, session_id: str) -> floor_service_pb2.ListBranchesResponse:
        whole = floor_service_pb2.ListBranchesResponse()
        request = floor_service_pb2.ListBranchesRequest(session_id=session_id, page_size=PAGE)
        for page in self._pages(self._floors.ListBranches, request):
            whole.branches.extend(page.branches)
        return whole

    # Appending, moving and branching

    def append_floor(
        self, session_id: str, asked: message_pb2.Message, said: message_pb2.Message
    ) -> floor_service_pb2.AppendFloorResponse:
        request = floor_service_pb2.AppendFloorRequest(
            request_id=new_request_id(), session_id=session_id, input=[asked], output=[said]
        )
        return self._call(self._floors.AppendFloor, request, floor_service_pb2.AppendFloorResponse)

    def move_head(
        self, session_id: str, branch: str, floor_id: str, expected_head: str
    ) -> floor_service_pb2.MoveHeadResponse:
        request = floor_service_pb2.MoveHeadRequest(
            request_id=new_request_id(),
            session_id=session_id,
            branch=branch,
            floor_id=floor_id,
            expected_head=expected_head,
        )
        return self._call(self._floors.MoveHead, request, floor_service_pb2.MoveHeadResponse)

    def select_sibling(
        self, session_id: str, branch: str, floor_id: str, expected_head: str
    ) -> floor_service_pb2.SelectSiblingResponse:
        request = floor_service_pb2.SelectSiblingRequest(
            request_id=new_request_id(),
            session_id=session_id,
            branch=branch,
            floor_id=floor_id,
            expected_head=expected_head,
        )
        return self._call(self._floors.SelectSibling, request, floor_service_pb2.SelectSiblingResponse)

    def create_branch(
        self, session_id: str, name: str, floor_id: str
    ) -> floor_service_pb2.CreateBranchResponse:
        request = floor_service_pb2.CreateBranchRequest(
            request_id=new_request_id(), session_id=session_id, name=name, floor_id=floor_id
        )
        return self._call(self._floors.CreateBranch, request, floor_service_pb2.CreateBranchResponse)

    def abandon(self, floor_id: str) -> floor_service_pb2.AbandonFloorResponse:
        request = floor_service_pb2.AbandonFloorRequest(request_id=new_request_id(), floor_id=floor_id)
        return self._call(self._floors.AbandonFloor, request, floor_service_pb2.AbandonFloorResponse)
