"""The store's part in the audit: what is not in the chain yet, and the chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kernel.verbs.audit import Act, Entry, Head, Known


@dataclass(frozen=True, slots=True)
class Unsealed:
    """An act that has no entry yet. `key` is the store's own, and `is_notice` whether it is a notice's."""

    act: Act
    is_notice: bool
    key: Any


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Empty: any. `principal` did it, or had it done; `action`, `outcome` and ids are as in an Act."""

    principal: str = ""
    action: str = ""
    target_id: str = ""
    session_id: str = ""
    project_id: str = ""
    request_id: str = ""
    outcome: str = ""


class AuditReads(Protocol):
    async def audit_head(self) -> Head | None:
        """The end of the tenant's chain; None before its first entry."""

    async def anything_unsealed(self) -> bool:
        """Whether there are acts without an entry, be it due or not."""

    async def audit_chain(self, after: int, limit: int) -> list[Entry]:
        """The chain as it is stored, by number, those above `after`: people are aliases."""

    async def audit_entries(self, where: AuditFilter, before: int | None, limit: int) -> list[Entry]:
        """Newest first, those with a number below `before`, people by their names; of an erased one,
        `audit.erased`."""

    async def audit_principals(self) -> list[Known]:
        """Whose aliases are known, by alias; who was erased is not."""


class AuditWrites(Protocol):
    async def lock_audit_head(self) -> Head:
        """The end of the chain, locked until the transaction ends: who seals goes one after the other, and
        sees everything that the one before sealed."""

    async def unsealed(self, limit: int, *, words_of: str = "", everything: bool = False) -> list[Unsealed]:
        """The oldest acts that are committed and have no entry, at most so many. With `words_of` only
        requests whose answer has words of that session; with `everything` also what may still be counted
        up. Only under the head's lock."""

    async def aliases(self, names: frozenset[str]) -> dict[str, str]:
        """Each name's alias, made where there is none. Only under the head's lock."""

    async def seal(self, entries: Sequence[Entry], sealed: Sequence[Unsealed]) -> None:
        """Adds the entries and moves the head; the acts have an entry from here on."""

    async def insert_notice(self, notice_id: str, act: Act, due_seconds: float = 0.0) -> None:
        """An act that follows from no request. It is sealed once it is due; a notice that is there already
        is counted up by the act's count."""

    async def forget_auditor(self, name: str) -> str:
        """The alias of a principal, whose name goes from the audit, for ever; empty when it has none. All
        that it did must be sealed before."""
