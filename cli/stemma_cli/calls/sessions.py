"""SessionService: conversations and the list of them."""

from collections.abc import Iterator
from typing import Any

import grpc
from stemma.conversation.v1 import session_service_pb2, session_service_pb2_grpc

from stemma_cli.calls.base import PAGE, Calls, new_request_id


class SessionCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._sessions: Any = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]

    def create_session(self) -> session_service_pb2.CreateSessionResponse:
        request = session_service_pb2.CreateSessionRequest(request_id=new_request_id())
        return self._call(self._sessions.CreateSession, request, session_service_pb2.CreateSessionResponse)

    def get_session(self, session_id: str) -> session_service_pb2.GetSessionResponse:
        request = session_service_pb2.GetSessionRequest(session_id=session_id)
        return self._call(self._sessions.GetSession, request, session_service_pb2.GetSessionResponse)

    def delete_session(self, session_id: str) -> session_service_pb2.DeleteSessionResponse:
        request = session_service_pb2.DeleteSessionRequest(request_id=new_request_id(), session_id=session_id)
        return self._call(self._sessions.DeleteSession, request, session_service_pb2.DeleteSessionResponse)

    def list_sessions(self, limit: int) -> session_service_pb2.ListSessionsResponse:
        """The first `limit` (at most 1,000), latest activity first; its token says whether there are more."""
        request = session_service_pb2.ListSessionsRequest(page_size=limit)
        return self._call(self._sessions.ListSessions, request, session_service_pb2.ListSessionsResponse)

    def every_session_id(self) -> Iterator[str]:
        """Of all sessions, the newest first, a page at a time: one that is talked in keeps its place."""
        request = session_service_pb2.ListSessionsRequest(
            order=session_service_pb2.SESSION_ORDER_CREATE_TIME, page_size=PAGE
        )
        for page in self._pages(self._sessions.ListSessions, request):
            for session in page.sessions:
                yield session.session_id
