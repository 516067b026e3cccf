"""The audit's entries and their chain: pure.

An entry says who did what to which thing, when, and with what outcome; it never holds a word of anybody's.
Principals stand in it as aliases, so that a name can be erased without touching an entry: an alias is a
digest of the name and a salt, and is worth nothing once the salt is gone.

An entry's digest is over its tenant, its number, everything it says, and the digest of the one before it. So
whoever changes, removes, swaps or adds a row must compute all that follows anew; and whoever has kept a head
elsewhere sees that, too (`Check`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

OK = "OK"
SALT_BYTES = 16
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ERASED = "erased:"


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done, or refused. What there is not is empty.

    `action` is the RPC's name, or that of a task of the service itself, whose principal is `system`.
    `outcome` is OK, or the code that refused it; `reason` the refusal's. `count` is above 1 only for denials
    that were too many to be kept one by one; then what differs among them is empty.
    """

    time: datetime
    principal: str
    action: str
    on_behalf_of: str = ""
    target_kind: str = ""
    target_id: str = ""
    session_id: str = ""
    project_id: str = ""
    request_id: str = ""
    outcome: str = OK
    reason: str = ""
    count: int = 1


# In the order of the dataclass: a field that is added is covered, too.
FIELDS = tuple(field.name for field in fields(Act))
values = attrgetter(*FIELDS)
_text = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a tenant's chain; number 0 before its first entry."""

    number: int
    digest: bytes

    def __str__(self) -> str:
        return f"{self.number}:{self.digest.hex()}"


START = Head(0, bytes(32))


@dataclass(frozen=True, slots=True)
class Entry:
    """An act at its place in the chain."""

    number: int
    act: Act
    digest: bytes


def alias_of(name: str, salt: bytes) -> str:
    """What stands for a name in the chain."""
    return hashlib.sha256(b"stemma.audit.principal.1" + salt + name.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Known:
    """Whose an alias is."""

    alias: str
    name: str
    salt: bytes


def erased(alias: str) -> str:
    """What is shown of a principal whose name was erased."""
    return _ERASED + alias


def alias_shown(name: str) -> str:
    """The alias that `erased` shows; empty when it is a name."""
    return name.removeprefix(_ERASED) if name.startswith(_ERASED) else ""


def people(act: Act) -> tuple[str, ...]:
    """The names in an act: who did it, for whom, and to whom."""
    named = (act.principal, act.on_behalf_of, act.target_id if act.target_kind in PERSONAL else "")
    return tuple(name for name in named if name)


# Kinds of targets that are people.
PERSONAL = frozenset({"principal", "member"})


def renamed(act: Act, names: Mapping[str, str]) -> Act:
    """The act with other words for its people, such as their aliases; `names` has all of them."""
    target = act.target_id
    if act.target_kind in PERSONAL and target:
        target = names[target]
    behalf, principal = act.on_behalf_of, act.principal
    return replace(
        act,
        principal=names[principal] if principal else "",
        on_behalf_of=names[behalf] if behalf else "",
        target_id=target,
    )


def digest(tenant_id: str, number: int, act: Act, before: bytes) -> bytes:
    """Of an entry whose people are aliases. The text is JSON, so that no value can run into the next."""
    time, *rest = values(act)
    text = _text([tenant_id, number, (time - _EPOCH) // _MICROSECOND, *rest])
    return hashlib.sha256(b"stemma.audit.1" + before + text.encode()).digest()


def chained(tenant_id: str, head: Head, acts: Sequence[Act]) -> list[Entry]:
    """The acts, behind the head and in their order, as entries. Their people are aliases."""
    entries, before = [], head.digest
    for number, act in enumerate(acts, head.number + 1):
        before = digest(tenant_id, number, act, before)
        entries.append(Entry(number, act, before))
    return entries


@dataclass(frozen=True, slots=True)
class Fault:
    """The first place where a chain does not hold, and a sentence for people."""

    number: int
    text: str


class Check:
    """Walks one chain: `follow` each entry, by number, then `end`. The first fault ends it.

    `kept` is a head that was noted elsewhere: the chain must still go through it. `known` are the principals
    whose names are there.
    """

    def __init__(self, tenant_id: str, kept: Head | None = None, known: Sequence[Known] = ()) -> None:
        self._tenant = tenant_id
        self._kept = kept
        self._forged = {one.alias for one in known if alias_of(one.name, one.salt) != one.alias}
        self.last = START

    def follow(self, entry: Entry) -> Fault | None:
        """The fault that this entry shows."""
        expected = self.last.number + 1
        if entry.number < expected:
            return Fault(entry.number, "stands where no entry belongs")
        if entry.number > expected:
            return Fault(expected, "is missing")
        if digest(self._tenant, entry.number, entry.act, self.last.digest) != entry.digest:
            return Fault(entry.number, "differs from what was sealed")
        self.last = Head(entry.number, entry.digest)
        if self._kept and self._kept.number == entry.number and self._kept != self.last:
            return Fault(
                entry.number, "has another digest than the head that was kept: the chain was rewritten"
            )
        if not self._forged.isdisjoint(people(entry.act)):
            return Fault(entry.number, "names a principal whose name was changed")
        return None

    def end(self, head: Head | None) -> Fault | None:
        """The fault that the chain's end shows."""
        head = head or START
        if self.last.number > head.number:
            return Fault(head.number + 1, "was added behind the head")
        if self.last.number < head.number or (self._kept and self.last.number < self._kept.number):
            return Fault(self.last.number + 1, "is missing at the end")
        if self.last != head:
            return Fault(head.number, "has another digest than the head names")
        return None


def subject(answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a write was done to, from the answer that is stored with its request: the fields of an Act.

    What a writer says itself stands in `target`, `project_id` and `on_behalf_of` of the answer; else the
    smallest thing that it names is the target.
    """
    kind, _, target_id = str(answer.get("target", "")).partition(":")
    if not kind:
        kind, target_id = _smallest(answer)
    return {
        "target_kind": kind,
        "target_id": target_id,
        "session_id": answer.get("session_id", ""),
        "project_id": answer.get("project_id", "") or _project(answer),
        "on_behalf_of": answer.get("on_behalf_of", ""),
    }


def _smallest(answer: Mapping[str, Any]) -> tuple[str, str]:
    for kind in ("run", "page", "floor"):
        if found := answer.get(f"{kind}_id"):
            return kind, found
    if member := answer.get("member"):
        return "member", member["principal"]
    session_id, branch = answer.get("session_id"), answer.get("branch")
    if branch and not answer.get("session"):
        return "floor", branch["head_floor_id"]
    if session_id:
        return "session", session_id
    project_id = answer.get("project_id", "") or _project(answer)
    return ("project", project_id) if project_id else ("", "")


def _project(answer: Mapping[str, Any]) -> str:
    for name in ("project", "session", "member"):
        if found := answer.get(name):
            return str(found["project_id"])
    return ""
