"""Drafts as they were answered: text that is stored with the request (R1)."""

import json
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from draft_service.domain.draft import Draft, DraftState, Retention, Source, Visibility
from kernel.errors import NotFound
from kernel.verbs.answers import Answered


def draft_text(draft: Draft) -> str:
    values = asdict(draft) | {"keep": draft.keep.total_seconds()}
    return json.dumps(
        {k: v.isoformat() if isinstance(v, datetime) else v for k, v in values.items()}, ensure_ascii=False
    )


def draft_from(text: str) -> Draft:
    values: dict[str, Any] = json.loads(text)
    values |= {k: v and datetime.fromisoformat(v) for k, v in values.items() if k.endswith("_time")}
    values["source"] = Source(**values["source"])
    values["state"] = DraftState(values["state"])
    values["retention"] = Retention(values["retention"])
    values["visibility"] = Visibility(values["visibility"])
    values["keep"] = timedelta(seconds=values["keep"])
    return Draft(**values)


def answered_draft(done: Answered) -> Draft:
    """NOT_FOUND for a draft that was purged since: its answers are blank."""
    if not done.other:
        raise NotFound("draft")
    return draft_from(done.other)
