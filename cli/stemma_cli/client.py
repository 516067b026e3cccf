"""The conversation service over gRPC, one method for each call that the commands make.

Every method returns what the service answered, lists with all their pages, and raises ApiError.
Writes take a fresh request_id, so that none of them is done twice.
"""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from stemma.conversation.v1 import (
    context_service_pb2,
    context_service_pb2_grpc,
    floor_service_pb2,
    floor_service_pb2_grpc,
    run_service_pb2,
    run_service_pb2_grpc,
    session_service_pb2,
    session_service_pb2_grpc,
)
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2

from stemma_cli.errors import api_error

# Seconds that an answer may take, and that a whole reply may.
_TIMEOUT = 30.0
_RUN_TIMEOUT = 3_600.0
_PAGE = 1_000
_OPTIONS = [
    ("grpc.max_receive_message_length", 16 * 1024 * 1024),
    # Back soon after a restart.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 1_000),
    # The service is ours, and near: no proxy in between.
    ("grpc.enable_http_proxy", 0),
]

_Answer = TypeVar("_Answer", bound=Message)


def new_request_id() -> str:
    return str(uuid.uuid4())


@contextmanager
def connect(address: str) -> Iterator["Client"]:
    """A client of the service at `address`. Connects with the first call."""
    with grpc.insecure_channel(address, options=_OPTIONS) as channel:
        yield Client(channel, address)


class Client:
    """See the module."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._channel = channel
        self.address = address
        # The generated stubs carry no types.
        self._sessions: Any = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        self._floors: Any = floor_service_pb2_grpc.FloorServiceStub(channel)  # type: ignore[no-untyped-call]
        self._runs: Any = run_service_pb2_grpc.RunServiceStub(channel)  # type: ignore[no-untyped-call]
        self._contexts: Any = context_service_pb2_grpc.ContextServiceStub(channel)  # type: ignore[no-untyped-call]

    def _call(self, method: Callable[..., Any], request: object, _answer: type[_Answer]) -> _Answer:
        try:
            answer: _Answer = method(request, timeout=_TIMEOUT)
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None
        return answer

    def wait_until_reachable(self, seconds: float) -> bool:
        """Whether there is a connection, after at most `seconds`."""
        try:
            grpc.channel_ready_future(self._channel).result(seconds)
        except grpc.FutureTimeoutError:
            return False
        return True

    # Sessions

    def create_session(self) -> session_service_pb2.CreateSessionResponse:
        request = session_service_pb2.CreateSessionRequest(request_id=new_request_id())
        return self._call(self._sessions.CreateSession, request, session_service_pb2.CreateSessionResponse)

    def get_session(self, session_id: str) -> session_service_pb2.GetSessionResponse:
        request = session_service_pb2.GetSessionRequest(session_id=session_id)
        return self._call(self._sessions.GetSession, request, session_service_pb2.GetSessionResponse)

    def list_sessions(self, limit: int) -> session_service_pb2.ListSessionsResponse:
        """The first `limit` (at most 1,000), latest activity first; its token says whether there are more."""
        request = session_service_pb2.ListSessionsRequest(page_size=limit)
        return self._call(self._sessions.ListSessions, request, session_service_pb2.ListSessionsResponse)

    # Reading trees

    def get_floor(self, floor_id: str) -> floor_service_pb2.GetFloorResponse:
        return self._call(
            self._floors.GetFloor,
            floor_service_pb2.GetFloorRequest(floor_id=floor_id),
            floor_service_pb2.GetFloorResponse,
        )

    def get_floors(self, floor_ids: Sequence[str]) -> list[floor_service_pb2.GetFloorResponse]:
        """Several, on their way at once."""
        calls = [
            self._floors.GetFloor.future(floor_service_pb2.GetFloorRequest(floor_id=one), timeout=_TIMEOUT)
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
        size: int = _PAGE,
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
        request = floor_service_pb2.GetTreeRequest(session_id=session_id, page_size=_PAGE)
        for page in self._pages(self._floors.GetTree, request):
            whole.floors.extend(page.floors)
        return whole

    def list_siblings(self, floor_id: str, branch: str) -> floor_service_pb2.ListSiblingsResponse:
        whole = floor_service_pb2.ListSiblingsResponse()
        request = floor_service_pb2.ListSiblingsRequest(floor_id=floor_id, branch=branch, page_size=_PAGE)
        for page in self._pages(self._floors.ListSiblings, request):
            whole.floors.extend(page.floors)
            whole.positions.extend(page.positions)
            whole.current_floor_id = page.current_floor_id
        return whole

    def list_branches(self, session_id: str) -> floor_service_pb2.ListBranchesResponse:
        whole = floor_service_pb2.ListBranchesResponse()
        request = floor_service_pb2.ListBranchesRequest(session_id=session_id, page_size=_PAGE)
        for page in self._pages(self._floors.ListBranches, request):
            whole.branches.extend(page.branches)
        return whole

    def _pages(self, method: Callable[..., Any], request: Any) -> Iterator[Any]:
        while True:
            page: Any = self._call(method, request, Message)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def assemble_below(
        self, session_id: str, floor_id: str, messages: Sequence[message_pb2.Message]
    ) -> context_service_pb2.AssembleContextResponse:
        """The context of the path to a floor and then `messages`."""
        request = context_service_pb2.AssembleContextRequest(session_id=session_id, floor_id=floor_id)
        request.input.messages.extend(messages)
        return self._call(
            self._contexts.AssembleContext, request, context_service_pb2.AssembleContextResponse
        )

    def assemble(self, session_id: str, branch: str) -> context_service_pb2.AssembleContextResponse:
        """The context of a branch as it stands."""
        request = context_service_pb2.AssembleContextRequest(session_id=session_id, branch=branch)
        return self._call(
            self._contexts.AssembleContext, request, context_service_pb2.AssembleContextResponse
        )

    # Moving and branching

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

    # Runs

    def respond(self, request: run_service_pb2.RespondRequest) -> Iterator[run_pb2.RunEvent]:
        """The frames of a run as they come. The same request again joins the same run."""
        try:
            for answer in self._runs.Respond(request, timeout=_RUN_TIMEOUT):
                yield answer.event
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None

    def cancel_run(self, run_id: str) -> run_service_pb2.CancelRunResponse:
        """Ends a run and keeps what it has written; returns when that is durable."""
        request = run_service_pb2.CancelRunRequest(
            request_id=new_request_id(), run_id=run_id, keep=run_pb2.KEEP_COMMIT
        )
        return self._call(self._runs.CancelRun, request, run_service_pb2.CancelRunResponse)
