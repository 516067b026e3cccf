"""When a request is tried again, and after how long. Pure but for the dice."""

import random
import re
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from kernel.generation.provider import ProviderError

# What another attempt may cure. Others mean that this request will never do, or that it was done.
RETRYABLE_STATUS = frozenset({429, 500, 502, 503, 504})
_LONGEST_HEADER = 64
_SECONDS = re.compile(r"[0-9]{1,9}")


class Passing(ProviderError):
    """An error that another attempt may cure.

    Attributes:
        retry_after: Seconds that the provider asks to wait; None when it does not say.
    """

    def __init__(self, error: ProviderError, retry_after: float | None = None) -> None:
        super().__init__(error.reason, error.message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Retries:
    """How often, and how patiently. Only before the first token: after it, a second attempt would
    write another answer behind the beginning of the first.

    Attributes:
        attempts: At most, the first one included.
        first_seconds: Before the second attempt; each further wait is twice as long.
        longest_seconds: No wait grows beyond it.
        longest_asked: A provider that asks for more than this is not asked again.
    """

    attempts: int = 3
    first_seconds: float = 0.5
    longest_seconds: float = 8.0
    longest_asked: float = 20.0

    def wait(self, attempt: int, error: Passing) -> float | None:
        """Seconds to wait after the failed `attempt`, from 1; None: give up.

        The wait is drawn from the upper half of its bound, so that those who failed together do not
        come back together. What the provider asks for is the least, never shortened.
        """
        if attempt >= self.attempts:
            return None
        bound = min(self.first_seconds * 2 ** (attempt - 1), self.longest_seconds)
        drawn = random.uniform(bound / 2, bound)
        if error.retry_after is None:
            return drawn
        return None if error.retry_after > self.longest_asked else error.retry_after + drawn


def retry_after(header: str | None, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for: a count, or a date; None for none and nonsense."""
    if header is None or len(header) > _LONGEST_HEADER:
        return None
    if _SECONDS.fullmatch(header.strip()):
        return float(header)
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError, TypeError, IndexError):
        # Its parser trips over nonsense in more than one way.
        return None
    # A date without a zone is in none that one could count with.
    return max(0.0, (until - now).total_seconds()) if until.tzinfo is not None else None
