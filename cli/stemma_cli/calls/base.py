"""What every call goes through."""

import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from stemma_client.errors import error_of
from stemma_client.requests import Times
from stemma_client.retries import Retries

from stemma_cli.errors import api_error

# Seconds that an answer may take.
TIMEOUT = 30.0
PAGE = 1_000
# Seconds for which a call is tried again that a service had no time for, or that nobody answered: whoever
# forgot to start it is told so soon.
PATIENCE, SILENCE = 10.0, 0.5
_RETRIES = Retries(most=2.0)

_Answer = TypeVar("_Answer", bound=Message)


def new_request_id() -> str:
    return str(uuid.uuid4())


class Calls:
    """One channel. `address` is where it leads, for what is said of it."""

    def __init__(self, channel: grpc.Channel, address: str) -> None:
        self.address = address
        self.patience, self.silence = PATIENCE, SILENCE
        self._health: Any = health_pb2_grpc.HealthStub(channel)

    def _call(
        self,
        method: Callable[..., Any],
        request: object,
        _answer: type[_Answer],
        *,
        timeout: float = TIMEOUT,
    ) -> _Answer:
        """The answer. What passes is tried again with the same request: its request_id keeps it one write."""
        times, began = Times(time.monotonic, timeout), time.monotonic()
        while True:
            try:
                answer: _Answer = method(request, timeout=times.left())
                return answer
            except grpc.RpcError as error:
                self._wait(error, times, began)

    def _wait(self, error: grpc.RpcError, times: Times, began: float) -> None:
        """Until the next try. Raises ApiError when there is none."""
        refused = error_of(error, self.address)
        patience = self.patience if refused.reached else self.silence
        left = min(times.left(), began + patience - time.monotonic())
        pause = _RETRIES.pause(times.attempt, refused, left, random.random)
        if pause is None:
            raise api_error(error, self.address) from None
        times.attempt += 1
        threading.Event().wait(pause)

    def _pages(self, method: Callable[..., Any], request: Any) -> Iterator[Any]:
        while True:
            page: Any = self._call(method, request, Message)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def wait_until_reachable(self, seconds: float) -> bool:
        """Whether there is a service that takes calls, after at most `seconds`: one that stops takes none.

        Asks the service's own health, which says so again whenever it changes. Watching the channel instead
        would leave a thread that complains when the channel is closed.
        """
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            watch = self._health.Watch(health_pb2.HealthCheckRequest(), timeout=left, wait_for_ready=True)
            try:
                if any(answer.status == health_pb2.HealthCheckResponse.SERVING for answer in watch):
                    return True
            except grpc.RpcError as error:
                code: grpc.StatusCode = error.code()
                if code is grpc.StatusCode.UNIMPLEMENTED:
                    # It has no health to ask for, and is there.
                    return True
            finally:
                watch.cancel()
        return False
