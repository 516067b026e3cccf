"""Counting tokens before a provider does, through one interface. An estimate says that it is one.

Counts that are stored with a message are always the estimate's: they belong to the text, which any model may
be sent, and `verify` derives them again. Where one model is known, and its provider has not counted, its own
counter counts, if there is one.
"""

from typing import Protocol

ESTIMATE = "estimate"
_BYTES_PER_TOKEN = 4
# What a picture costs with the common providers, roughly.
FILE_TOKENS = 512


def estimate(text: str) -> int:
    """Tokens of a text: a quarter of its UTF-8 bytes, rounded up."""
    return -(-len(text.encode()) // _BYTES_PER_TOKEN)


class TokenCounter(Protocol):
    """Counts like one family of models. Pure; any thread may call it."""

    @property
    def name(self) -> str:
        """As explanations show it; `estimate` for the one that only estimates."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text by itself; 0 for an empty one."""
        ...


class _Estimate:
    name = ESTIMATE

    def count(self, text: str) -> int:
        return estimate(text)


ESTIMATING: TokenCounter = _Estimate()


class TokenCounters:
    """Which counter counts for which model: the one for the longest beginning of its name; else the
    estimate."""

    def __init__(self) -> None:
        self._counters: dict[str, TokenCounter] = {}

    def use(self, models: str, counter: TokenCounter) -> None:
        """From now on, for models whose name begins like this, as in `gpt-4o`."""
        self._counters[models] = counter

    def of(self, model: str | None) -> TokenCounter:
        """For a model by its name, as the provider knows it."""
        fitting = [models for models in self._counters if (model or "").startswith(models)]
        return self._counters[max(fitting, key=len)] if fitting else ESTIMATING


# Those of this process; whoever starts it may plug in more.
COUNTERS = TokenCounters()
