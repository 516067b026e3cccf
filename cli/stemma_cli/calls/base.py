"""What every call goes through."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from stemma_cli.errors import api_error

# Seconds that an answer may take.
TIMEOUT = 30.0
PAGE = 1_000

_Answer = TypeVar("_Answer", bound=Message)


def new_request_id() -> str:
    return str(uuid.uuid4())


class Calls:
    """One channel. `address` is where it leads, for what is said of it."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self._channel = channel
        self.address = address

    def _call(
        self,
        method: Callable[..., Any],
        request: object,
        _answer: type[_Answer],
        *,
        timeout: float = TIMEOUT,
    ) -> _Answer:
        try:
            answer: _Answer = method(request, timeout=timeout)
        except grpc.RpcError as error:
            raise api_error(error, self.address) from None
        return answer

    def _pages(self, method: Callable[..., Any], request: Any) -> Iterator[Any]:
        while True:
            page: Any = self._call(method, request, Message)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def wait_until_reachable(self, seconds: float) -> bool:
        """Whether there is a connection, after at most `seconds`."""
        try:
            grpc.channel_ready_future(self._channel).result(seconds)
        except grpc.FutureTimeoutError:
            return False
        return True
