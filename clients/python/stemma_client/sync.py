"""The client for ordinary code; `aio` is its twin."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc

from stemma_client.base import Client, Service, metadata
from stemma_client.errors import StemmaError, error_of
from stemma_client.requests import OPTIONS, Place, Times
from stemma_client.retries import Retries


class Stemma(Client):
    """Connects with the first call; threads may share it. Answers are returned; what streams is an iterator,
    and one that is left (`close()`, or no longer referred to) ends its call."""

    _caller: "_Caller"

    def __enter__(self) -> "Stemma":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._caller.closed.set()
        for channel in self._channels:
            channel.close()

    def _new_caller(self, api_key: str, retries: Retries) -> "_Caller":
        return _Caller(api_key, retries)

    def _new_channel(self, address: str, credentials: grpc.ChannelCredentials | None) -> grpc.Channel:
        if credentials is None:
            return grpc.insecure_channel(address, options=OPTIONS)
        return grpc.secure_channel(address, credentials, options=OPTIONS)


class _Caller:
    def __init__(self, api_key: str, retries: Retries) -> None:
        self._metadata = metadata(api_key)
        self._retries = retries
        # Nobody waits for what a closed client asks again.
        self.closed = threading.Event()

    def unary(self, call: Callable[..., Any], request: Any, timeout: float, address: str) -> Any:
        times = Times(time.monotonic, timeout)
        while True:
            try:
                return call(request, timeout=times.left(), metadata=self._metadata)
            except grpc.RpcError as error:
                self._wait(error_of(error, address), times)

    def streamed(
        self, call: Callable[..., Any], requests: Any, timeout: float, address: str
    ) -> Iterator[Any]:
        answers = call(requests, timeout=timeout, metadata=self._metadata)
        try:
            yield from answers
        except grpc.RpcError as error:
            raise error_of(error, address) from None
        finally:
            answers.cancel()

    def followed(self, service: Service, place: Place, timeout: float) -> Iterator[Any]:
        times = Times(time.monotonic, timeout)
        while not place.ended:
            try:
                for answer in getattr(service, place.method)(place.request(), timeout=place.seconds(times)):
                    place.take(answer.event, times)
                    yield answer.event
                return
            except StemmaError as error:
                if not place.goes_on(error, times):
                    self._wait(error, times)

    def _wait(self, error: StemmaError, times: Times) -> None:
        pause = self._retries.pause(times.attempt, error, times.left(), random.random)
        if pause is None:
            raise error from None
        times.attempt += 1
        if self.closed.wait(pause):
            raise error from None
