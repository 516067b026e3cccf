"""Statements that ask of whatever tenant, by name, and why they may. Each only looks: what is done about it
is done in a transaction of the tenant that was found."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Across:
    """`pattern`: of the text with single spaces."""

    name: str
    why: str
    pattern: str

    def is_it(self, text: str) -> bool:
        return re.search(self.pattern, " ".join(text.split())) is not None


_KEYS = r"^SELECT {0}\.tenant_id, {0}\.{0}_id FROM {0} WHERE {0}\."
_RUNS = _KEYS.format("run")
ACROSS = (
    Across("whose key", "a call's tenant is found by its key", r"FROM api_key WHERE api_key\.digest = \S+$"),
    Across("expired drafts", "the sweeper", _KEYS.format("draft") + "state"),
    Across("drafts to purge", "the sweeper", _KEYS.format("draft") + "purge_time"),
    Across("exports to settle", "the sweeper", r"^SELECT export\.tenant_id, .* export\.state = "),
    Across("feeds to index", "the indexer", r"^SELECT feed\.tenant_id, feed\.project_id FROM feed LEFT"),
    Across("events to remove", "retention", r"^SELECT feed\.tenant_id, .* FROM feed JOIN event ON "),
    Across("runs of processes that are gone", "the beat", _RUNS + r"state = \S+ AND run\.owner"),
    Across("runs that wait no longer", "the beat", _RUNS + r"state = \S+ AND run\.wait_time"),
    Across("logs to remove", "the beat", _RUNS + "logged"),
    Across("entries whose time is up", "the ledger's sweeper", _KEYS.format("staged_write") + "state"),
    Across("denials to seal", "the sealer", r"^WITH RECURSIVE walk.* FROM audit_notice WHERE \S+\.due_time"),
    Across("requests to seal", "the sealer", r"^WITH RECURSIVE walk.* FROM request WHERE "),
)
# FTS5's own command, in a statement's clothes.
_COMMANDS = (r"^INSERT INTO search_message\(search_message, rank\) VALUES \('merge', \?\)$",)


def excepted(text: str) -> bool:
    plain = " ".join(text.split())
    return any(one.is_it(text) for one in ACROSS) or any(re.search(one, plain) for one in _COMMANDS)


# Functions that make statements and are not in the stories, with the reason.
ELSEWHERE = {
    # A new secret seals every tenant's keys anew: it reads all, and writes each row by its whole primary key.
    # tests/secrets/test_rotation.py runs it.
    ("kernel/storage/resealing.py", "_rows"),
    ("kernel/storage/resealing.py", "_row"),
}
