"""The frames of one run, each once, also over a connection that breaks."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import run_pb2

from stemma_cli.client import Client
from stemma_cli.errors import ApiError, CliError

# Seconds without a new frame after which a broken connection is given up, and between two tries while
# there is a connection.
PATIENCE = 20.0
_PAUSE = 0.3

_LAST = {"floor_committed", "held", "failed", "cancelled"}


class ConnectionLost(CliError):
    """It did not come back in time."""


def is_last(event: run_pb2.RunEvent) -> bool:
    return event.WhichOneof("event") in _LAST


def waits(event: run_pb2.RunEvent) -> bool:
    """Whether the run waits for somebody now: its stream ends."""
    return bool(event.WhichOneof("event") == "requires_action")


@dataclass(frozen=True, slots=True)
class Following:
    """A run that is known already, after a frame of it."""

    run_id: str
    after: tuple[int, int]


def frames(
    client: Client,
    wanted: run_service_pb2.RespondRequest | Following,
    *,
    on_lost: Callable[[], None],
    given_up: threading.Event,
    patience: float = PATIENCE,
) -> Iterator[run_pb2.RunEvent]:
    """Every frame of the run, once, to its last one, or to where it waits, or until `given_up` is set.

    When the connection breaks, or the server stops, `on_lost` is called and the run is attached to after the
    last frame; before the first one the request is repeated under its request_id, which joins the run that it
    named: nothing is generated or written twice.

    Raises:
        ApiError: The request was refused.
        ConnectionLost: No new frame for `patience` seconds.
    """
    until = time.monotonic() + patience
    while not given_up.is_set():
        try:
            event = run_pb2.RunEvent()
            for event in _stream(client, wanted):
                wanted, until = Following(event.run_id, (event.epoch, event.seq)), time.monotonic() + patience
                yield event
            if is_last(event) or waits(event):
                return
        except ApiError as error:
            if not error.passing:
                raise
        if given_up.is_set():
            return
        on_lost()
        left = until - time.monotonic()
        if left <= 0 or not client.wait_until_reachable(left):
            raise ConnectionLost(
                f"The connection to {client.address} was lost and did not come back. The turn may have been "
                "written all the same: /tree shows it."
            )
        # There is a server, and it may be starting or stopping.
        given_up.wait(_PAUSE)


def _stream(client: Client, wanted: run_service_pb2.RespondRequest | Following) -> Iterator[run_pb2.RunEvent]:
    if not isinstance(wanted, Following):
        return client.respond(wanted)
    epoch, seq = wanted.after
    return client.attach_run(wanted.run_id, f"{epoch}.{seq}" if epoch else "")
