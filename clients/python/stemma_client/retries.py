"""When a call is tried again. Pure: clocks and dice are given."""

from collections.abc import Callable
from dataclasses import dataclass

from stemma_client.errors import StemmaError


@dataclass(frozen=True, slots=True)
class Retries:
    """Pauses in seconds: the first, and the most. Each may be twice as long as the one before, and is drawn
    between half of that and all of it, so that many clients do not come back together."""

    first: float = 0.1
    most: float = 5.0

    def pause(self, attempt: int, error: StemmaError, left: float, dice: Callable[[], float]) -> float | None:
        """Seconds to wait before the next try; None when there is none: the error does not pass, or it would
        pass too late. `attempt` counts from 0, `left` is the call's time in seconds, `dice` draws from
        [0, 1)."""
        if not error.passing:
            return None
        grown = min(self.most, self.first * 2.0 ** min(attempt, 30))
        pause = max(error.retry_after or 0.0, grown * (0.5 + dice() / 2))
        return pause if pause < left else None
