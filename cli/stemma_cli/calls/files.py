"""Files in and out, and verifying."""

from collections.abc import Generator, Iterator
from typing import Any

import grpc
from stemma.conversation.v1 import (
    admin_service_pb2,
    admin_service_pb2_grpc,
    session_service_pb2,
    session_service_pb2_grpc,
)

from stemma_cli.calls.base import Calls
from stemma_cli.errors import api_error

# Seconds that a whole file may take, and that a session of any size may take to be checked.
_FILE_TIMEOUT = 24 * 3_600.0
_VERIFY_TIMEOUT = 900.0


class FileCalls(Calls):
    """See `client`."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        super().__init__(channel, address)
        # The generated stubs carry no types.
        self._files: Any = session_service_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
        self._admin: Any = admin_service_pb2_grpc.AdminServiceStub(channel)  # type: ignore[no-untyped-call]

    def import_sessions(
        self, requests: Iterator[session_service_pb2.ImportSessionsRequest]
    ) -> Generator[session_service_pb2.ImportSessionsResponse]:
        """What became of each conversation, as it lands. `requests` is read in another thread, as fast as
        the service takes it; what it raises ends the call with UNKNOWN. Closing this cancels the call."""
        yield from self._streamed(self._files.ImportSessions(requests, timeout=_FILE_TIMEOUT))

    def export_session(
        self, session_id: str, format: str
    ) -> Generator[session_service_pb2.ExportSessionResponse]:
        """The file in pieces. Closing this cancels the call."""
        request = session_service_pb2.ExportSessionRequest(session_id=session_id, format=format)
        yield from self._streamed(self._files.ExportSession(request, timeout=_FILE_TIMEOUT))

    def _streamed(self, call: Any) -> Generator[Any]:
        try:
            yield from call
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None
        finally:
            call.cancel()

    def verify_session(self, session_id: str, *, repair: bool) -> admin_service_pb2.VerifySessionResponse:
        """Everything of the session that disagrees, and how much of it was written anew."""
        request = admin_service_pb2.VerifySessionRequest(session_id=session_id, repair=repair)
        answer = admin_service_pb2.VerifySessionResponse
        return self._call(self._admin.VerifySession, request, answer, timeout=_VERIFY_TIMEOUT)
