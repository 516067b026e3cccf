"""The whole story from Python: a conversation, an edit, a run that breaks off and goes on, a draft, its
acceptance, and the feed. Checks what it is told at every step; ends with 1 at the first that is not so.

    python story.py            # asks STEMMA_CONVERSATION and STEMMA_DRAFT, with STEMMA_API_KEY if it is set
"""

import os
import sys
import uuid

import grpc
from stemma.conversation.v1 import event_service_pb2 as events
from stemma.conversation.v1 import floor_service_pb2 as floors
from stemma.conversation.v1 import project_service_pb2 as projects
from stemma.conversation.v1 import run_service_pb2 as runs
from stemma.conversation.v1 import session_service_pb2 as sessions
from stemma.conversation.v1 import staged_write_service_pb2 as staged
from stemma.draft.v1 import draft_service_pb2 as drafts
from stemma.kernel.v1 import floor_pb2, message_pb2, run_pb2, staged_write_pb2
from stemma_client import Stemma, errors

FIFTEEN = "My train leaves in fifteen minutes. Is there time for a coffee?"
FIFTY = "My train leaves in fifty minutes. Is there time for a coffee?"


def say(text: str, role: message_pb2.Role = message_pb2.ROLE_USER) -> message_pb2.Message:
    return message_pb2.Message(role=role, parts=[{"text": {"text": text}}])


def answer(text: str) -> message_pb2.Message:
    return say(text, message_pb2.ROLE_ASSISTANT)


def text_of(page: message_pb2.Page) -> str:
    return "".join(part.text.text for message in page.messages for part in message.parts)


def check(true: bool, what: str) -> None:
    if not true:
        sys.exit(f"story: not so: {what}")


def log(step: str, what: str) -> None:
    print(f"{step:9} {what}", flush=True)


class Story:
    """One project with one session, and the head that its branch should have."""

    def __init__(self, stemma: Stemma) -> None:
        self.stemma = stemma
        created = stemma.projects.CreateProject(projects.CreateProjectRequest(title="The story in Python"))
        self.project_id: str = created.project.project_id
        self.session_id = ""
        self.head = ""

    def path(self) -> list[floor_pb2.Floor]:
        listed = self.stemma.floors.ListPath(floors.ListPathRequest(session_id=self.session_id))
        return list(listed.floors)

    def session(self) -> None:
        request = sessions.CreateSessionRequest(
            request_id=str(uuid.uuid4()), project_id=self.project_id, title="Coffee"
        )
        session = self.stemma.sessions.CreateSession(request).session
        again = self.stemma.sessions.CreateSession(request).session
        check(again.session_id == session.session_id, "one request_id makes one session")
        self.session_id, self.head = session.session_id, session.root_floor_id
        log("session", "asked for twice with one request_id, made once")

    def append(self) -> None:
        done = self.stemma.floors.AppendFloor(
            floors.AppendFloorRequest(
                session_id=self.session_id,
                expected_head=self.head,
                input=[say(FIFTEEN)],
                output=[answer("Hardly.")],
            )
        )
        check(done.branch.head_floor_id == done.floor.floor_id, "the new floor is the head")
        self.head = done.floor.floor_id
        log("append", "a turn, committed")

    def edit(self) -> None:
        before = self.head
        done = self.stemma.floors.EditFloor(
            floors.EditFloorRequest(floor_id=before, input=[say(FIFTY)], output=[answer("Plenty of it.")])
        )
        self.head = done.floor.floor_id
        siblings = self.stemma.floors.ListSiblings(floors.ListSiblingsRequest(floor_id=self.head)).floors
        check([one.floor_id for one in siblings] == [before, self.head], "both versions are kept")
        path = self.path()
        check([text_of(one.input_page) for one in path] == [FIFTY], "the path has the edited turn alone")
        log("edit", "fifteen became fifty; the path has the new turn, the old one stays beside it")

    def conflict(self) -> None:
        turn = floors.AppendFloorRequest(
            session_id=self.session_id, input=[say("Thanks.")], expected_head=str(uuid.uuid4())
        )
        try:
            self.stemma.floors.AppendFloor(turn)
        except errors.HeadMoved as moved:
            check(moved.current_head == self.head, "HEAD_MOVED names the head")
            turn.expected_head = moved.current_head
        else:
            check(False, "a wrong expected_head is refused")
        self.head = self.stemma.floors.AppendFloor(turn).floor.floor_id
        log("conflict", "HEAD_MOVED named the head; the turn went in below it")

    def respond(self) -> None:
        request = runs.RespondRequest(session_id=self.session_id, input={"messages": [say("Which one?")]})
        seen: list[run_pb2.RunEvent] = []
        stream = self.stemma.respond(request)
        for event in stream:
            seen.append(event)
            if len(seen) == 3:
                break
        # Hanging up ends the call, not the run: that is the server's.
        stream.close()
        last = seen[-1]
        seen += self.stemma.attach(last.run_id, after=f"{last.epoch}.{last.seq}")
        floor = self.committed(seen)
        check(self.path()[-1] == floor, "the path ends with the floor of the last frame")
        self.head = floor.floor_id
        log("respond", "hung up after 3 frames, attached after the third: no frame lost, none twice")

    def committed(self, seen: list[run_pb2.RunEvent]) -> floor_pb2.Floor:
        """The floor that these frames end with; they are all of a run, and say what the floor's page says."""
        check([event.seq for event in seen] == list(range(1, len(seen) + 1)), "frames are numbered in a row")
        check(seen[-1].WhichOneof("event") == "floor_committed", "the last frame says what was committed")
        floor = seen[-1].floor_committed.floor
        joined = "".join(event.text_delta.text for event in seen)
        check(joined != "" and joined == text_of(floor.output_page), "the frames' text is the page's")
        return floor

    def draft(self) -> str:
        """The id of the staged write that came of it."""
        drafted = self.stemma.drafts.CreateDraft(
            drafts.CreateDraftRequest(session_id=self.session_id, purpose="a second opinion")
        ).draft
        asked = drafts.RespondRequest(
            draft_id=drafted.draft_id, input={"messages": [say("Say it differently.")]}
        )
        self.committed(list(self.stemma.respond(asked)))
        export = drafts.ExportDraftRequest(
            draft_id=drafted.draft_id,
            target={"placement": staged_write_pb2.PLACEMENT_NEXT_FLOOR},
            parts=[{"output_page": {}}],
            reason="reads better",
            finalize=True,
        )
        exported = self.stemma.drafts.ExportDraft(export)
        check(self.path()[-1].floor_id == self.head, "a draft and its export leave the conversation as it is")
        log("draft", "answered beside the conversation, exported, nothing of it there yet")
        return str(exported.staged_write_id)

    def accept(self, staged_write_id: str) -> None:
        decision = staged.AcceptStagedWriteRequest(
            staged_write_id=staged_write_id, expected_head=self.head, reason="agreed"
        )
        accepted = self.stemma.staged_writes.AcceptStagedWrite(decision)
        check(accepted.floor.parent_floor_id == self.head, "it became the head's child")
        check(self.path()[-1] == accepted.floor, "and the head")
        try:
            self.stemma.staged_writes.AcceptStagedWrite(
                decision.__class__(staged_write_id=staged_write_id, reason="agreed again")
            )
        except errors.AlreadyDecided:
            log("accept", "the draft's answer is a turn now; a second decision is refused")
        else:
            check(False, "a second decision is refused")

    def watch(self) -> None:
        wanted: list[str] = []
        positions: list[int] = []
        while "staged_write.accepted" not in wanted:
            feed = self.stemma.watch(self.project_id, after=positions[-1] if positions else 0)
            # A few at a time: each time the feed is asked for what follows the last position.
            for _ in range(4):
                event = next(feed)
                positions.append(event.position)
                wanted.append(event.type)
                if event.type == "staged_write.accepted":
                    break
            feed.close()
        check(positions == list(range(1, len(positions) + 1)), "each event once, in order")
        check(wanted.count("floor.committed") == 5, "each turn has its event")
        log("watch", f"{len(wanted)} events, four at a time, each once and in order")

    def refusals(self) -> None:
        try:
            self.stemma.sessions.GetSession(sessions.GetSessionRequest(session_id=str(uuid.uuid4())))
        except errors.NotFound as refused:
            check(refused.reason == "NOT_FOUND", "its reason is NOT_FOUND")
        else:
            check(False, "an unknown session is not found")
        last = self.stemma.events.ListEvents(events.ListEventsRequest(project_id=self.project_id))
        silent = events.WatchEventsRequest(project_id=self.project_id, after=last.last_position)
        try:
            list(self.stemma.events.WatchEvents(silent, timeout=0.3))
        except errors.StemmaError as late:
            check(late.code is grpc.StatusCode.DEADLINE_EXCEEDED, "the deadline ends it")
        else:
            check(False, "a silent feed does not end by itself")
        log("refusals", "NOT_FOUND has a type of its own; a deadline is kept")


def main() -> None:
    address = os.environ.get("STEMMA_CONVERSATION", "127.0.0.1:50051")
    drafting = os.environ.get("STEMMA_DRAFT", "127.0.0.1:50052")
    with Stemma(address, drafts=drafting, api_key=os.environ.get("STEMMA_API_KEY", "")) as stemma:
        story = Story(stemma)
        story.session()
        story.append()
        story.edit()
        story.conflict()
        story.respond()
        story.accept(story.draft())
        story.watch()
        story.refusals()
    print("ok")


if __name__ == "__main__":
    main()
