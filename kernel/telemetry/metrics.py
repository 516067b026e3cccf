"""Figures of one process, for Prometheus.

Labels never hold ids of conversations or people. Projects are the one exception that operators ask for: the
first `MOST_PROJECTS` that are seen have a label each, all others together are `other`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

MOST_PROJECTS = 200
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LONG = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)


@dataclass(frozen=True, slots=True)
class Sent:
    """What one context was: tokens of what went to the model, of turns on other branches that therefore did
    not, and of what the budget left out."""

    project_id: str
    tokens: int
    abandoned: int
    trimmed: int


class Figures:
    """Where a program says what happens, with or without anybody who counts: this one counts nothing."""

    def call(self, method: str, code: str, seconds: float) -> None:
        """A call was answered; `code` is a canonical status's name."""

    def refused(self, reason: str, project_id: str) -> None:
        """A call failed for a reason of the contract; `project_id` is "" where none is known."""

    def sent(self, context: Sent) -> None:
        """A run has begun with that context."""

    def first_word(self, provider: str, seconds: float) -> None:
        """A model has begun to answer."""

    def run_ended(self, outcome: str, seconds: float) -> None:
        """`outcome`: committed, held, failed, cancelled, waiting or lost."""

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """`stemma_NAME` is what `read` answers whenever somebody asks."""


class Metrics(Figures):
    """Figures that `text` shows."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._projects: set[str] = set()
        self._calls = self._histogram("call_seconds", "Answered calls", ("method", "code"), _SECONDS)
        self._refused = self._counter("refusals", "Calls that failed, by reason", ("reason",))
        self._heads = self._counter(
            "head_mismatches", "Writes refused because the caller's head was not the server's", ("project",)
        )
        self._digests = self._counter(
            "context_mismatches", "Contexts that are not, byte for byte, what was sent: must be 0", ()
        )
        tokens = {
            "sent": "Tokens of contexts that models were sent",
            "abandoned": "Tokens on abandoned branches, and so not sent, at each context",
            "trimmed": "Tokens that budgets left out of contexts",
        }
        self._tokens = {
            name: self._counter(f"tokens_{name}", said, ("project",)) for name, said in tokens.items()
        }
        self._first = self._histogram(
            "first_word_seconds", "From asking a model to its first word", ("provider",), _LONG
        )
        self._runs = self._histogram("run_seconds", "Runs that ended, or wait", ("outcome",), _LONG)

    def text(self) -> bytes:
        """In Prometheus' text format."""
        return generate_latest(self.registry)

    def call(self, method: str, code: str, seconds: float) -> None:
        self._calls.labels(method, code).observe(seconds)

    def refused(self, reason: str, project_id: str) -> None:
        self._refused.labels(reason).inc()
        if reason == "HEAD_MOVED":
            self._heads.labels(self._label(project_id)).inc()
        if reason == "DIGEST_MISMATCH":
            self._digests.inc()

    def sent(self, context: Sent) -> None:
        label = self._label(context.project_id)
        for name, count in (
            ("sent", context.tokens),
            ("abandoned", context.abandoned),
            ("trimmed", context.trimmed),
        ):
            self._tokens[name].labels(label).inc(count)

    def first_word(self, provider: str, seconds: float) -> None:
        self._first.labels(provider).observe(seconds)

    def run_ended(self, outcome: str, seconds: float) -> None:
        self._runs.labels(outcome).observe(seconds)

    def watch(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        Gauge(f"stemma_{name}", meaning, registry=self.registry).set_function(read)

    def _label(self, project_id: str) -> str:
        if project_id and (project_id in self._projects or len(self._projects) < MOST_PROJECTS):
            self._projects.add(project_id)
            return project_id
        return "other"

    def _counter(self, name: str, meaning: str, labels: tuple[str, ...]) -> Counter:
        return Counter(f"stemma_{name}", meaning, labels, registry=self.registry)

    def _histogram(
        self, name: str, meaning: str, labels: tuple[str, ...], buckets: tuple[float, ...]
    ) -> Histogram:
        return Histogram(f"stemma_{name}", meaning, labels, registry=self.registry, buckets=buckets)
