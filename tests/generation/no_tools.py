"""A toolbox without tools, for runs that have none."""

from collections.abc import Sequence

from kernel.generation.provider import ToolSpec
from kernel.generation.tools import Acted
from kernel.tree.message import ToolCall


class NoTools:
    """`Toolbox` of a run without tools."""

    async def specs(self) -> tuple[ToolSpec, ...]:
        return ()

    async def record(self, page_id: str, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        raise AssertionError("a model that is given no tools calls none")

    async def act(self, calls: Sequence[ToolCall]) -> Acted:
        raise AssertionError("a model that is given no tools calls none")
