"""What is needed to go on with a run in another process, as text in its row."""

import json
from dataclasses import asdict, dataclass

from kernel.prompt.config import Config
from kernel.prompt.config_text import config_from_text, config_text


@dataclass(frozen=True, slots=True)
class Candidate:
    """One page of a run. `instruction` is sent after the context; temperature and model lie over the
    configuration's."""

    page_id: str = ""
    instruction: str = ""
    temperature: float | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """`config` is the effective one, as the run began; `room` the bytes that a page may take; `failed`
    the pages that were given up before the run waited."""

    pages: tuple[Candidate, ...]
    config: Config
    hold: bool
    room: int
    failed: tuple[str, ...] = ()


def plan_text(plan: Plan) -> str:
    values = asdict(plan) | {"config": config_text(plan.config)}
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def plan_from(text: str) -> Plan:
    values = json.loads(text)
    return Plan(
        pages=tuple(Candidate(**page) for page in values["pages"]),
        config=config_from_text(values["config"]),
        hold=values["hold"],
        room=values["room"],
        failed=tuple(values["failed"]),
    )
