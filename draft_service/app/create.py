"""Making a draft: a frozen copy of its source, and a tree of its own below it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from hashlib import sha256

from draft_service.app.answers import draft_from, draft_text
from draft_service.app.store import StoredSnapshot, WriteTx
from draft_service.app.world import Fetched, Wanted, World
from draft_service.domain.draft import Draft, DraftState, Retention, Source, Visibility
from draft_service.domain.endpoints import check_endpoints, without_their_names
from draft_service.domain.narrowing import check_narrowed
from kernel.errors import NotFound
from kernel.prompt.config import Config, effective, without_keys
from kernel.prompt.config_text import config_text
from kernel.state.model import EMPTY
from kernel.state.text import state_text
from kernel.tree.model import Branch, StateMark
from kernel.tree.places import first_child
from kernel.verbs.configs import NO_CONFIG
from kernel.verbs.env import MAIN, Write
from kernel.verbs.floors import keep_versions
from kernel.verbs.pages import new_floor, new_root
from kernel.verbs.pending import open_pending
from kernel.verbs.records import Answer, Project, Session, SessionState


@dataclass(frozen=True, slots=True)
class NewDraft:
    """`config` is checked but for its tools; `ttl` is there with Retention.TTL, and only then."""

    wanted: Wanted
    purpose: str
    title: str = ""
    retention: Retention = Retention.DELETE_ON_FINALIZE
    ttl: timedelta | None = None
    visibility: Visibility = Visibility.CLIENT_VISIBLE
    config: Config = NO_CONFIG
    replace_system_prompt: bool = False
    metadata: Mapping[str, str] = field(default_factory=dict)
    origin_run_id: str = ""
    origin_draft_id: str = ""


@dataclass(frozen=True, slots=True)
class _Making:
    """What a draft is made of: everything that must be the same when the transaction runs again."""

    write: Write
    new: NewDraft
    fetched: Fetched
    draft_id: str
    project_id: str
    root_id: str

    @property
    def frozen(self) -> Config:
        snapshot = self.fetched.snapshot
        return without_their_names(snapshot.config, snapshot.own_endpoints)

    @property
    def own(self) -> Config:
        """What lies over it: that is kept whole, since a model that proposes a change reads it."""
        given = self.new.config
        if self.new.replace_system_prompt and given.system_prompt is None:
            return replace(given, system_prompt="")
        return given


async def create_draft(world: World, write: Write, new: NewDraft) -> tuple[Draft, Branch]:
    """The draft and its `main`: at the root, and for a reply with the open first floor below it.

    The source is asked first, outside of any transaction; a repeat of the request asks nobody.
    """
    async with world.store.reading(write.caller.tenant_id) as reading:
        answer = await reading.answer(write.request)
    if answer is not None:
        return _as_answered(answer)
    fetched = await world.sources.fetch(write.caller, new.wanted)
    check_narrowed(new.config, fetched.snapshot.config.tools, "config")
    check_endpoints(new.config, fetched.snapshot.own_endpoints, "config")
    new_id = world.env.new_id
    making = _Making(write, new, fetched, new_id(), new_id(), new_id())

    async def attempt(tx: WriteTx) -> tuple[Draft, Branch]:
        answer = await tx.answer(write.request)
        if answer is not None:
            return _as_answered(answer)
        draft = await _draft(world, tx, making)
        branch = await _tree(world, tx, making, draft)
        # Late: its row is locked from here on, and others make drafts of the same source.
        await tx.hold_snapshot(
            StoredSnapshot(draft.source.source_id, fetched.digest, _state_text(making), fetched.floors)
        )
        await tx.insert_draft(draft)
        await tx.audit(draft.draft_id, "created", draft.created_by, {"floors": len(fetched.floors)})
        made = Answer(
            draft.draft_id, branch=branch, other=draft_text(draft), target=f"draft:{draft.draft_id}"
        )
        await tx.record(write.request, made)
        return draft, branch

    return await world.store.write(write.caller.tenant_id, attempt)


def _as_answered(answer: Answer) -> tuple[Draft, Branch]:
    if not answer.other or answer.branch is None:
        raise NotFound("draft")
    return draft_from(answer.other), answer.branch


async def _draft(world: World, tx: WriteTx, making: _Making) -> Draft:
    """Its times are the database's, and fixed here (D5)."""
    new, snapshot, now = making.new, making.fetched.snapshot, await tx.now()
    base = snapshot.base
    config = effective(making.frozen, making.own)
    return Draft(
        draft_id=making.draft_id,
        own_project_id=making.project_id,
        source=Source(
            snapshot.project_id,
            snapshot.session_id,
            base.source_floor_id if base else "",
            base.floor_id if base else "",
            snapshot.versions.project_version,
            snapshot.versions.session_version,
            snapshot.project_live.version,
            snapshot.session_live.version if snapshot.session_id else 0,
        ),
        snapshot_digest=making.fetched.digest.hex(),
        config_digest=sha256(config_text(without_keys(config)).encode()).hexdigest(),
        title=new.title,
        purpose=new.purpose,
        state=DraftState.ACTIVE,
        retention=new.retention,
        visibility=new.visibility,
        created_by=making.write.caller.principal,
        create_time=now,
        update_time=now,
        last_activity_time=now,
        expire_time=now + world.ages.life(new.retention, new.ttl),
        keep=world.ages.keep(new.retention),
        metadata=dict(new.metadata),
        origin_run_id=new.origin_run_id,
        origin_draft_id=new.origin_draft_id,
    )


async def _tree(world: World, tx: WriteTx, making: _Making, draft: Draft) -> Branch:
    """The kernel's session, alone in a project that holds what was frozen: both scopes of live values, and
    the configuration below the draft's own."""
    snapshot, now = making.fetched.snapshot, draft.create_time
    await tx.insert_base(Project(making.project_id, "", SessionState.ACTIVE, making.frozen, 1, now, now))
    session = Session(
        session_id=making.draft_id,
        project_id=making.project_id,
        title="",
        state=SessionState.ACTIVE,
        config=making.own,
        version=1,
        root_floor_id=making.root_id,
        stored_tokens=0,
        create_time=now,
        update_time=now,
        last_activity_time=now,
    )
    root = new_root(world.env, making.draft_id, making.root_id, draft.created_by)
    root = replace(root, mark=StateMark(None, 0, len(_state_text(making))))
    branch = Branch(MAIN, root.floor_id, None, None, 0, 1, now, now)
    await tx.insert_session(session, root, branch)
    await tx.copy_live(making.draft_id, snapshot.session_live)
    await tx.copy_live(making.project_id, snapshot.project_live)
    if not making.new.wanted.reply:
        return branch
    floor = new_floor(world.env, root, first_child(root.place), root.principal, MAIN)
    # With its id and the floor where it was first written, as a regenerated floor has it.
    floor = replace(floor, input=snapshot.input)
    branch = await open_pending(tx, world.env, session, branch, floor, False)
    await keep_versions(tx, floor)
    return branch


def _state_text(making: _Making) -> str:
    state = making.fetched.snapshot.state
    return "" if state == EMPTY else state_text(state)
