"""The store's part in erasing a principal."""

from collections.abc import Sequence
from typing import Protocol

from kernel.tree.model import Floor
from kernel.verbs.records import Erased, Session


class ErasureWrites(Protocol):
    """Names that are erased become `kernel.verbs.graves.ERASED_NAME`."""

    async def refuse_buried(self, principal: str) -> None:
        """FORBIDDEN when the principal has a grave; else it gets none before this transaction is over."""

    async def bury(self, principal: str) -> None:
        """Digs the grave, alone in its transaction. Waits for every write that has looked and found none;
        each that looks later finds it. Once durable, nothing can be added that the erasure would not see."""

    async def taken_from(self, principal: str) -> tuple[Erased, ...]:
        """The receipt so far, by store."""

    async def add_taken(self, principal: str, taken: Sequence[Erased]) -> None:
        """In the transaction that took it: so a repeat counts nothing twice."""

    async def erase_entries_of(self, principal: str) -> tuple[Erased, ...]:
        """Removes what it staged. One that is being accepted is waited for: its floors are found later."""

    async def sessions_of(self, principal: str, limit: int) -> list[str]:
        """Sessions in which its name still is, by id."""

    async def lock_whole(self, session_id: str) -> Session | None:
        """As `lock_session`, however the session stands."""

    async def is_alone(self, session: Session, principal: str) -> bool:
        """Whether nobody else who is still known has a floor in the session."""

    async def pending_of(self, session_id: str, principal: str) -> list[Floor]:
        """Floors that it has pending."""

    async def blank_in(self, session: Session, principal: str) -> tuple[Erased, ...]:
        """Takes its words out of a locked session that others write in, none of its floors being pending:
        pages and effects wherever they were copied to, runs and their logs, entries of the index, events, and
        its name. All records of what models were sent go, since they hold its words. Copies of
        the state are wrong after this: `verify` writes them anew."""

    async def erase_whole(self, session: Session) -> tuple[Erased, ...]:
        """As `erase_session`, with whatever else a service keeps of it."""

    async def erase_rest(self, principal: str) -> tuple[Erased, ...]:
        """What is in no session: memberships, live values of projects, versions of configurations, events,
        requests (which must be in the audit), and the service's own."""
