"""Sending one file in, and what became of each of its conversations; over connections that break, too."""

from collections.abc import Iterator
from contextlib import closing

import grpc
from stemma.conversation.v1 import session_service_pb2

from stemma_cli.client import Client
from stemma_cli.errors import ApiError, CliError
from stemma_cli.files.source import Source
from stemma_cli.progress import Progress

# How often the file is sent again without a new conversation, and seconds until there must be a service
# again.
_TRIES = 5
_PATIENCE = 20.0


class Import:
    """One file on its way. `landed` conversations were reported, taken or not."""

    def __init__(
        self,
        client: Client,
        source: Source,
        header: session_service_pb2.ImportHeader,
        progress: Progress,
    ) -> None:
        self._client = client
        self._source = source
        self._header = header
        self._progress = progress
        self._unsendable: CliError | None = None
        self.landed = 0

    def results(self) -> Iterator[session_service_pb2.ImportSessionsResponse]:
        """One for each conversation, in the file's order, as it lands.

        When the connection breaks, or the service stops, the file is sent again under its request id: what
        landed is answered from the time before, nothing is made twice, and only the rest is given here.

        Raises:
            ApiError: The file was refused as a whole, or the connection did not come back.
            CliError: The file could not be read to its end, or is no longer the one that it was.
        """
        lost = 0
        while True:
            before = self.landed
            try:
                yield from self._once()
                return
            except ApiError as error:
                if self._unsendable is not None:
                    raise self._unsendable from None
                lost = 1 if self.landed > before else lost + 1
                if not _passing(error) or lost > _TRIES or not self._back():
                    raise

    def _back(self) -> bool:
        """Whether there is a server again: one that stops is none."""
        self._progress.aside("connection lost; sending the file again under the same request id …")
        return self._client.wait_until_reachable(_PATIENCE)

    def _once(self) -> Iterator[session_service_pb2.ImportSessionsResponse]:
        with closing(self._client.import_sessions(self._requests())) as answers:
            for answer in answers:
                # Those before were given already.
                if answer.result.index >= self.landed:
                    self.landed = answer.result.index + 1
                    yield answer

    def _requests(self) -> Iterator[session_service_pb2.ImportSessionsRequest]:
        """Read by another thread: what it raises is kept for this one."""
        yield session_service_pb2.ImportSessionsRequest(header=self._header)
        sent = 0
        try:
            for chunk in self._source.chunks():
                yield session_service_pb2.ImportSessionsRequest(chunk=chunk)
                sent += len(chunk)
                self._progress.at(sent)
        except CliError as error:
            self._unsendable = error
            raise


def _passing(error: ApiError) -> bool:
    """An import may also be longer than a call: the next call goes on from there."""
    return error.passing or error.code is grpc.StatusCode.DEADLINE_EXCEEDED
