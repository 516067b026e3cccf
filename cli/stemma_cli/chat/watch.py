"""Watching a run to its end, with Ctrl-C for its cancellation."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto
from queue import SimpleQueue

import grpc
from stemma.conversation.v1 import run_service_pb2
from stemma.kernel.v1 import run_pb2

from stemma_cli.chat.frames import Following, frames, is_last
from stemma_cli.client import Client
from stemma_cli.errors import ApiError, CliError, Interrupted


class Notice(Enum):
    """What happens beside the frames."""

    LOST = auto()
    INTERRUPTED = auto()


# None: there is no more for now, as the run waits.
_Item = run_pb2.RunEvent | Notice | CliError | None


class Watch:
    """One run. `interrupted` tells whether Ctrl-C was pressed."""

    def __init__(self, client: Client, wanted: run_service_pb2.RespondRequest | Following) -> None:
        self._client = client
        self._wanted = wanted
        # Its put may be called by a signal handler.
        self._items: SimpleQueue[_Item] = SimpleQueue()
        self._given_up = threading.Event()
        self._run_id = ""
        self._cancelling = False
        self.interrupted = False

    def events(self) -> Iterator[run_pb2.RunEvent | Notice]:
        """Every frame to the last one, or to where the run waits, and what happens beside them.

        The first Ctrl-C cancels the run, keeping what it has written; the last frame says how it ended. The
        second stops watching: the run ends by itself.

        Raises:
            ApiError, ConnectionLost: See `frames`.
            Interrupted: At the second Ctrl-C.
        """
        try:
            with _on_interrupt(lambda: self._items.put(Notice.INTERRUPTED)):
                threading.Thread(target=self._read, daemon=True).start()
                yield from self._events()
        finally:
            self._given_up.set()

    def _events(self) -> Iterator[run_pb2.RunEvent | Notice]:
        while (item := self._items.get()) is not None:
            if isinstance(item, CliError):
                raise item
            if item is Notice.INTERRUPTED:
                if self.interrupted:
                    raise Interrupted("No longer waiting. The run ends by itself: /tree shows how.")
                self.interrupted = True
            yield item
            if isinstance(item, run_pb2.RunEvent):
                self._run_id = item.run_id
                if is_last(item):
                    return
            self._cancel_if_asked()

    def _cancel_if_asked(self) -> None:
        """As soon as there is something to cancel."""
        if self.interrupted and self._run_id and not self._cancelling:
            self._cancelling = True
            threading.Thread(target=self._cancel, daemon=True).start()

    def _cancel(self) -> None:
        try:
            self._client.cancel_run(self._run_id)
        except ApiError as error:
            # It has ended by itself meanwhile, and the last frame is on its way.
            if error.code is not grpc.StatusCode.FAILED_PRECONDITION:
                self._items.put(error)

    def _read(self) -> None:
        try:
            for event in frames(
                self._client,
                self._wanted,
                on_lost=lambda: self._items.put(Notice.LOST),
                given_up=self._given_up,
            ):
                self._items.put(event)
            self._items.put(None)
        except CliError as error:
            self._items.put(error)


@contextmanager
def _on_interrupt(call: Callable[[], None]) -> Iterator[None]:
    """SIGINT calls `call` instead of raising KeyboardInterrupt in the middle of something."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: call())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
