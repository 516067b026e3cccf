"""The client for asyncio; `sync` is its twin."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
from grpc import aio

from stemma_client.base import Client, Service, metadata
from stemma_client.errors import StemmaError, error_of
from stemma_client.requests import OPTIONS, Place, Times
from stemma_client.retries import Retries

# What grpc says of a stream of requests into whose end one was sent; the service's own words are lost then.
_LOST = "Internal error from Core"
# Seconds that a service has to refuse what it refuses at once; and what it says then.
_REFUSES_WITHIN = 1.0
_REFUSALS = (
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
)


async def _nothing() -> AsyncIterator[Any]:
    """No request, for as long as it takes to be refused."""
    await asyncio.sleep(_REFUSES_WITHIN)
    requests: tuple[Any, ...] = ()
    for request in requests:
        yield request


class AsyncStemma(Client):
    """Connects with the first call; for one event loop. Answers are awaited; what streams is an async
    iterator, and one that is closed (`aclose()`) ends its call."""

    async def __aenter__(self) -> "AsyncStemma":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        for channel in self._channels:
            await channel.close()

    def _new_caller(self, api_key: str, retries: Retries) -> "_Caller":
        return _Caller(api_key, retries)

    def _new_channel(self, address: str, credentials: grpc.ChannelCredentials | None) -> aio.Channel:
        if credentials is None:
            return aio.insecure_channel(address, options=OPTIONS)
        return aio.secure_channel(address, credentials, options=OPTIONS)


class _Caller:
    def __init__(self, api_key: str, retries: Retries) -> None:
        self._metadata = metadata(api_key)
        self._retries = retries

    async def unary(self, call: Callable[..., Any], request: Any, timeout: float, address: str) -> Any:
        times = Times(time.monotonic, timeout)
        while True:
            try:
                return await call(request, timeout=times.left(), metadata=self._metadata)
            except grpc.RpcError as error:
                await self._wait(error_of(error, address), times)

    async def streamed(
        self, call: Callable[..., Any], requests: Any, timeout: float, address: str
    ) -> AsyncIterator[Any]:
        answers = call(requests, timeout=timeout, metadata=self._metadata)
        try:
            async for answer in answers:
                yield answer
        except aio.AioRpcError as error:
            said = await self._said_again(call) if error.details() == _LOST else None
            raise error_of(said or error, address) from None
        finally:
            answers.cancel()

    async def _said_again(self, call: Callable[..., Any]) -> aio.AioRpcError | None:
        """How the service refuses whoever calls, asked without a request that could meet the call's end."""
        answers = call(_nothing(), timeout=2 * _REFUSES_WITHIN, metadata=self._metadata)
        try:
            async for _ in answers:
                return None
        except aio.AioRpcError as error:
            return error if error.code() in _REFUSALS else None
        finally:
            answers.cancel()
        return None

    async def followed(self, service: Service, place: Place, timeout: float) -> AsyncIterator[Any]:
        times = Times(time.monotonic, timeout)
        while not place.ended:
            answers = getattr(service, place.method)(place.request(), timeout=place.seconds(times))
            try:
                async for answer in answers:
                    place.take(answer.event, times)
                    yield answer.event
                return
            except StemmaError as error:
                if not place.goes_on(error, times):
                    await self._wait(error, times)
            finally:
                await answers.aclose()

    async def _wait(self, error: StemmaError, times: Times) -> None:
        pause = self._retries.pause(times.attempt, error, times.left(), random.random)
        if pause is None:
            raise error from None
        times.attempt += 1
        await asyncio.sleep(pause)
