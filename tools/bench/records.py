"""Turns as the store takes them, made beforehand: what is measured of the store is the store alone."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from stemma.kernel.v1 import message_pb2

from kernel.prompt.config import Config
from kernel.tree.digest import ROOT_DIGEST, floor_digest, page_digest
from kernel.tree.model import Branch, Floor, FloorState, MessageFacts, Page, PageContent, Place, Role, Slot
from kernel.tree.places import first_child
from kernel.verbs.records import AppendRecord, Request, Session, SessionState

TENANT, _PRINCIPAL, _BRANCH = "bench", "bench", "main"
Text = tuple[str, str]


@dataclass(frozen=True, slots=True)
class NewSession:
    session: Session
    root: Floor
    main: Branch


def new_session(project_id: str) -> NewSession:
    """A session that is not written yet."""
    session_id, root_id, now = str(uuid4()), str(uuid4()), datetime.now(UTC)
    session = Session(
        session_id=session_id,
        project_id=project_id,
        title="",
        state=SessionState.ACTIVE,
        config=Config(),
        version=1,
        root_floor_id=root_id,
        stored_tokens=0,
        create_time=now,
        update_time=now,
        last_activity_time=now,
    )
    root = _floor(session_id, root_id, None, Place(0, 0), None, now)
    return NewSession(session, root, Branch(_BRANCH, root_id, None, None, 0, 1, now, now))


def next_record(parent: Floor, text: Text) -> AppendRecord:
    """A turn below `parent`, its first child."""
    now, floor_id = datetime.now(UTC), str(uuid4())
    child = first_child(parent.place)
    floor = _floor(parent.session_id, floor_id, parent, child.place, text, now)
    request = Request(_PRINCIPAL, "AppendFloor", str(uuid4()), bytes(32))
    return AppendRecord(
        tenant_id=TENANT,
        request=request,
        branch=_BRANCH,
        expected_head=parent.floor_id,
        floor=floor,
        opens_segment=child.opens_segment,
        event_id=str(uuid4()),
    )


def _floor(
    session_id: str, floor_id: str, parent: Floor | None, place: Place, text: Text | None, now: datetime
) -> Floor:
    digest, tokens = ROOT_DIGEST, 0
    asked = said = None
    if text is not None and parent is not None and parent.digest is not None:
        asked = _page(floor_id, Slot.INPUT, Role.USER, text[0], now)
        said = _page(floor_id, Slot.OUTPUT, Role.ASSISTANT, text[1], now)
        digest = floor_digest(parent.digest, asked, said)
        tokens = parent.path_tokens + asked.tokens + said.tokens
    return Floor(
        floor_id=floor_id,
        session_id=session_id,
        parent_floor_id=parent.floor_id if parent else None,
        parent_segment=parent.place.segment if parent else None,
        place=place,
        ordinal=0,
        state=FloorState.COMMITTED,
        input=asked,
        output=said,
        digest=digest,
        path_tokens=tokens,
        usage=None,
        run_id=None,
        failure_reason="",
        principal=_PRINCIPAL,
        create_time=now,
        commit_time=now,
        branch=_BRANCH if parent else "",
    )


def _page(floor_id: str, slot: Slot, role: Role, text: str, now: datetime) -> Page:
    message = message_pb2.Message(role=message_pb2.Role.Name(role), parts=[{"text": {"text": text}}])
    blob = message_pb2.MessageList(messages=[message]).SerializeToString(deterministic=True)
    content = PageContent(blob, (MessageFacts(role, False, len(text) // 4, plain=True),))
    digest = page_digest(slot, False, blob)
    return Page(str(uuid4()), floor_id, slot, content, digest, content.tokens, False, "client", now)
