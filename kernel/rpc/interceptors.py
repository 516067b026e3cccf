"""What happens around every handler: one list, in `interceptors`, from the outside in.

They are plain functions around one coroutine, not grpc.aio interceptors: those see a handler
before it runs and not the call, and come in one shape per arity. Each may look at the exchange,
fill it in, raise a StemmaError, or go on with `proceed`.
"""

import asyncio
import re
import time
from collections.abc import Sequence

import grpc
import structlog
from google.rpc import status_pb2
from grpc import aio
from uuid_utils import uuid4

from kernel.errors import DeadlineExceeded, StemmaError, Unavailable
from kernel.rpc.admission import Gate
from kernel.rpc.call import Authenticator, Metadata
from kernel.rpc.exchange import ClientGone, Exchange, Proceed, Step, cancelled_from_outside
from kernel.rpc.policy import Policy
from kernel.rpc.status import internal_status, to_status
from kernel.telemetry.metrics import Figures
from kernel.telemetry.tracing import traces

_VISIBLE = re.compile(r"[!-~]{1,128}")
# Seconds. A client's deadline is rounded up to the next millisecond on its way, so one that has
# passed arrives as one that has not quite; and nothing can be done in so little time anyway.
_TOO_LATE = 0.002

# What is the server's own doing.
_SERVER_FAULTS = frozenset(
    {
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)

_access_log = structlog.get_logger("kernel.rpc.access")
_log = structlog.get_logger("kernel.rpc")


def interceptors(
    *,
    gate: Gate,
    authenticator: Authenticator,
    unary_deadline: float,
    stream_deadline: float,
    stall_seconds: float,
    limits: Sequence[Step] = (),
    denials: Sequence[Step] = (),
    policy: Policy | None = None,
    figures: Figures | None = None,
) -> Sequence[Step]:
    """The list. Deadlines in seconds, for clients that give none; `limits` are those of tenants."""
    return (
        *([traced] if traces.on else []),
        *([] if figures is None else [measured(figures)]),
        *outermost(),
        *([] if figures is None else [noticed(figures)]),
        deadline(unary_deadline, stream_deadline),
        admission(gate, stall_seconds),
        *denials,
        identity(authenticator, policy, gate if limits else None),
        *limits,
    )


async def traced(exchange: Exchange, proceed: Proceed) -> bytes:
    """Outside even of what is measured: the call's span, in the caller's trace."""
    headers = {key: value for key, value in exchange.metadata() if isinstance(value, str)}
    with traces.serving(exchange.method.name.removeprefix("/"), headers) as span:
        structlog.contextvars.bind_contextvars(trace_id=span.trace_id)
        try:
            return await proceed(exchange)
        finally:
            span.set("rpc.grpc.status_code", exchange.code.name)
            if exchange.code in _SERVER_FAULTS:
                span.failed()


def measured(figures: Figures) -> Step:
    """Outside all others: what a call ended with, and how long it took."""

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        start = time.perf_counter()
        try:
            return await proceed(exchange)
        finally:
            figures.call(exchange.method.name, exchange.code.name, time.perf_counter() - start)

    return step


def noticed(figures: Figures) -> Step:
    """Inside what answers failures: why a call failed."""

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        try:
            return await proceed(exchange)
        except StemmaError as error:
            figures.refused(error.reason, getattr(error, "project_id", ""))
            raise

    return step


def outermost() -> Sequence[Step]:
    """What surrounds even a call of a method that does not exist."""
    return (request_id, access_line, errors)


def chain(steps: Sequence[Step], innermost: Proceed) -> Proceed:
    """The steps around `innermost`, the first one outermost."""
    proceed = innermost
    for step in reversed(steps):
        proceed = _before(step, proceed)
    return proceed


def _before(step: Step, proceed: Proceed) -> Proceed:
    # No coroutine of its own around each step: every call goes through all of them.
    return lambda exchange: step(exchange, proceed)


async def request_id(exchange: Exchange, proceed: Proceed) -> bytes:
    """The caller's `x-request-id` when it is 1-128 visible ASCII characters, else a new one.

    It goes back in the trailing metadata and into every line logged below here.
    """
    exchange.request_id = request_id_of(exchange.metadata())
    exchange.context.set_trailing_metadata((("x-request-id", exchange.request_id),))
    structlog.contextvars.bind_contextvars(request_id=exchange.request_id)
    return await proceed(exchange)


def request_id_of(metadata: Metadata) -> str:
    """The caller's, where it is usable, else a new one."""
    given = next((value for key, value in metadata if key == "x-request-id"), "")
    usable = isinstance(given, str) and _VISIBLE.fullmatch(given)
    return str(given) if usable else str(uuid4())


async def access_line(exchange: Exchange, proceed: Proceed) -> bytes:
    """One line for each call: its code and time, and never a word of its content."""
    start = time.perf_counter()
    try:
        return await proceed(exchange)
    finally:
        milliseconds = round((time.perf_counter() - start) * 1000, 1)
        _access_log.info("call", method=exchange.method.name, code=exchange.code.name, ms=milliseconds)


async def errors(exchange: Exchange, proceed: Proceed) -> bytes:
    """Answers every failure with its status, and unknown ones with INTERNAL and an id for the log."""
    try:
        try:
            return await proceed(exchange)
        except (aio.AbortError, ClientGone):
            raise
        except StemmaError as error:
            status = to_status(error)
        except asyncio.CancelledError:
            if cancelled_from_outside():
                raise
            status = _stray_cancellation()
        except Exception as error:
            status = unexpected(error)
        await exchange.abort(status)
    except (asyncio.CancelledError, ClientGone):
        # The client went away, or its time is up and grpc has told it, or the server stops at
        # once: nobody waits for an answer. grpc ends a cancelled call without a word.
        late = 0 < exchange.deadline <= time.monotonic()
        exchange.code = grpc.StatusCode.DEADLINE_EXCEEDED if late else grpc.StatusCode.CANCELLED
        raise asyncio.CancelledError from None
    raise AssertionError("abort returned")


def _stray_cancellation() -> status_pb2.Status:
    """Something that the handler awaited was cancelled. Let out, it would leave the client waiting."""
    _log.warning("a handler let a cancellation out", exc_info=True)
    return to_status(
        Unavailable("UNAVAILABLE", "The work was cancelled in the server. Retry with the same request_id.")
    )


def unexpected(error: Exception) -> status_pb2.Status:
    """INTERNAL, with the id under which the error is in the log."""
    error_id = str(uuid4())
    _log.error("unexpected error", error_id=error_id, exc_info=error)
    return internal_status(error_id)


def deadline(unary_seconds: float, stream_seconds: float) -> Step:
    """Cuts a call off when its time is up: the client's, or ours when it gave none.

    The handler's await is cancelled then; what must not be cut in half (a commit) is shielded by
    whoever does it.
    """

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        seconds = exchange.context.time_remaining()
        if seconds is None:
            seconds = stream_seconds if exchange.method.streams else unary_seconds
        if seconds <= _TOO_LATE:
            raise _time_is_up()
        exchange.deadline = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds) as timer:
                return await proceed(exchange)
        except TimeoutError:
            # One that the handler raised itself is not ours.
            if not timer.expired():
                raise
        raise _time_is_up()

    return step


def _time_is_up() -> DeadlineExceeded:
    return DeadlineExceeded(
        "DEADLINE_EXCEEDED", "The call's time is up. What it wrote happened whole or not at all."
    )


def admission(gate: Gate, stall_seconds: float) -> Step:
    """Refuses what is too much at once, and everything while the server drains; a stream whose client
    takes nothing for `stall_seconds` is ended."""

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        exchange.stall_seconds = stall_seconds
        with gate.admitted(exchange):
            return await proceed(exchange)

    return step


def identity(authenticator: Authenticator, policy: Policy | None = None, gate: Gate | None = None) -> Step:
    """Says whose call it is, or refuses it; what the caller may ask for, `policy` says, once the request is
    read. With a `gate`, the call stands aside meanwhile."""

    async def step(exchange: Exchange, proceed: Proceed) -> bytes:
        exchange.policy = policy
        exchange.authenticator = authenticator
        asked = exchange.metadata(), exchange.method.name, exchange.peer
        if gate is None:
            who = await authenticator.authenticate(*asked)
        else:
            with gate.aside(exchange.method.streams):
                who = await authenticator.authenticate(*asked)
        exchange.identity = who
        structlog.contextvars.bind_contextvars(tenant=who.tenant_id, principal=who.principal)
        return await proceed(exchange)

    return step
