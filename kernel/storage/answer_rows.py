"""What a request was answered, as the text that is stored with it."""

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

from kernel.prompt.config_text import config_from_text, config_text
from kernel.tree.model import Branch
from kernel.verbs.records import (
    Answer,
    ConfigVersion,
    Erased,
    Member,
    MemberRole,
    Project,
    Session,
    SessionState,
)

_RECORDS: dict[str, Any] = {
    "branch": Branch,
    "session": Session,
    "project": Project,
    "member": Member,
    "config_version": ConfigVersion,
}


def answer_text(answer: Answer) -> str:
    values: dict[str, Any] = {}
    for field in fields(answer):
        value = getattr(answer, field.name)
        if not value:
            continue
        if field.name in _RECORDS:
            values[field.name] = _members(value)
        elif field.name == "receipt":
            values["receipt"] = [[erased.store, erased.rows] for erased in value]
        else:
            values[field.name] = value
    return json.dumps(values)


def answer(text: str) -> Answer:
    values = json.loads(text)
    for name, kind in _RECORDS.items():
        if values.get(name) is not None:
            values[name] = kind(**{key: _value(key, inner) for key, inner in values[name].items()})
    values["receipt"] = tuple(Erased(store, rows) for store, rows in values.get("receipt", ()))
    values["waiting_calls"] = tuple(values.get("waiting_calls", ()))
    return Answer(**values)


def words_of(answer: Answer) -> str | None:
    """The session whose erasure must blank the answer, too; None for one that holds only ids."""
    named = answer.branch is not None and answer.branch.name != "main"
    said = named or answer.session is not None or answer.config_version is not None or answer.other
    return answer.session_id or None if said else None


def _members(record: Any) -> dict[str, Any]:
    found = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name == "config":
            value = config_text(value)
        found[field.name] = value.isoformat() if isinstance(value, datetime) else value
    return found


def _value(name: str, value: Any) -> Any:
    if name.endswith("_time"):
        return datetime.fromisoformat(value)
    if name == "config":
        return config_from_text(value)
    if name == "state":
        return SessionState(value)
    return MemberRole(value) if name == "role" else value
