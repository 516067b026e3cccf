"""Where the proposals of models are kept, as a run sees it."""

from typing import Protocol

from kernel.tools.state import Scene
from kernel.verbs.env import WriteTx
from kernel.verbs.records import RecordedCall


class Proposals(Protocol):
    """A proposal changes nothing: it is kept until somebody exports it."""

    async def answer(self, tx: WriteTx, scene: Scene, call: RecordedCall, tenant_id: str) -> str:
        """The result of a call of one of `PROPOSING`, in the transaction that keeps the result. May be asked
        again for a call whose outcome was not known: that makes no second proposal.

        Raises: ToolFault, which says to the model what to repair.
        """
