"""What a run needs of its tools. The runner knows neither their kinds nor where calls are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from kernel.generation.events import ActionKind
from kernel.generation.provider import ToolSpec
from kernel.tree.message import ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class Acted:
    """What became of calls: results in their order, or, when some have none yet, what those wait for."""

    results: tuple[ToolResult, ...]
    waiting: tuple[tuple[ToolCall, ActionKind], ...] = ()


class Toolbox(Protocol):
    """The tools of one run, for all of its pages. Every write is conditional on the run's lease: raises
    `kernel.generation.sink.RunOver` when the run is no longer this process's."""

    async def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of, in the configuration's order; empty for a run without tools. Found
        out once a run (an MCP server is asked). Raises ProviderError."""
        ...

    async def record(self, page_id: str, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """Records the calls of one answer, durably, before anything acts. Gives them back with ids that
        are unique within the run. Never refuses a call: what cannot be called is answered with an error.

        Raises ProviderError LIMIT for more calls than a run may make.
        """
        ...

    async def act(self, calls: Sequence[ToolCall]) -> Acted:
        """Brings recorded calls of one answer forward as far as they go: those that may act do, side by
        side, and each result is recorded once, durably. Calls that have a result keep it: so this may be
        called again, also by another process, once what was waited for is there.

        A caller that is cancelled cancels what acts; a call that had begun to act has no result then.
        """
        ...
