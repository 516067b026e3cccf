"""A live run whose floor others may end: what its watchers were shown is then exactly what is stored."""

from typing import Any

from kernel.generation.events import RunEvent, is_last
from kernel.generation.live import LiveRun


class ShownRun(LiveRun):
    """A run that can be held while somebody decides about its floor.

    Who abandons a floor stores what was shown so far, and commits a moment later. What comes in
    between waits: it is shown when nothing came of it, and dropped when the floor has ended.
    """

    def __init__(self, run_id: str, floor_id: str, **more: Any) -> None:
        super().__init__(run_id, floor_id, **more)
        self._holds = 0
        self._waiting: list[RunEvent] = []
        self._given_up = False

    def hold(self) -> None:
        """No more text is shown until `release`. Several may hold it."""
        self._holds += 1

    def release(self) -> None:
        """Takes one hold back; after the last, what waited is shown."""
        self._holds -= 1
        if not self._holds and not self.closed:
            self._show()

    def give_up(self) -> None:
        """The floor has ended, durably: what waits, and what comes, is shown to nobody."""
        self._given_up = True
        self._waiting.clear()
        self.cancel(keep=False)

    def publish(self, event: RunEvent) -> None:
        """As `LiveRun.publish`; all but an end may wait, or be dropped."""
        if is_last(event):
            # An end that was reached while the run is held: the other one has decided nothing.
            self._show()
            super().publish(event)
        elif not self._given_up and not self._holds:
            super().publish(event)
        else:
            self.so_far.apply(event)
            if not self._given_up:
                self._waiting.append(event)

    def _show(self) -> None:
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self._append(event)
