"""A session as it is exported: everything that its tree is, as plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kernel.tree.message import Message
from kernel.tree.model import FloorState, Slot, Usage


@dataclass(frozen=True, slots=True)
class ExportPage:
    """`digest` in lowercase hex. Two floors with one `page_id` have the same page."""

    page_id: str
    slot: Slot
    messages: tuple[Message, ...]
    digest: str
    partial: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class ExportFloor:
    """A floor other than the root. `candidates` are its pages that were not chosen; `digest` (hex)
    is empty unless it is committed; times are RFC 3339 texts or empty. `effects` is the canonical text of
    what it does to the truth layer, or empty; `brought` those of its output versions, by page id."""

    floor_id: str
    parent_floor_id: str
    ordinal: int
    state: FloorState
    input: ExportPage | None
    output: ExportPage | None
    digest: str = ""
    candidates: tuple[ExportPage, ...] = ()
    failure_reason: str = ""
    usage: Usage | None = None
    branch: str = ""
    create_time: str = ""
    commit_time: str = ""
    effects: str = ""
    brought: Mapping[str, str] = field(default_factory=dict)

    @property
    def pages(self) -> tuple[ExportPage, ...]:
        chosen = tuple(page for page in (self.input, self.output) if page is not None)
        return chosen + self.candidates


@dataclass(frozen=True, slots=True)
class ExportBranch:
    name: str
    head_floor_id: str
    pending_floor_id: str | None = None
    failed_floor_id: str | None = None


@dataclass(frozen=True, slots=True)
class ExportLive:
    """A live value of the session. `version` is the layer's when it was written."""

    key: str
    value_json: str
    version: int


@dataclass(frozen=True, slots=True)
class ExportTree:
    """One session. Floors without the root, each after its parent, siblings by ordinal: (segment,
    depth) order does. `config_json` is the session's own layer of configuration, or empty; `live` are its
    live values, a layer of version `live_version`."""

    title: str
    root_floor_id: str
    branches: tuple[ExportBranch, ...]
    floors: Sequence[ExportFloor]
    config_json: str = ""
    live: tuple[ExportLive, ...] = ()
    live_version: int = 1

    @property
    def main(self) -> ExportBranch:
        return next(branch for branch in self.branches if branch.name == "main")
