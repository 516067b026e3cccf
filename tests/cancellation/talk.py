"""Random calls, each with words of its own, and what their answers must say.

Every text begins with the number of its session and of its call: whoever is shown another's sees it.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from google.protobuf.message import Message
from stemma.kernel.v1 import floor_pb2

from tests.support.client import Client, assistant, request_for, text_of, texts, user


@dataclass(frozen=True)
class Ask:
    """`check` fails on an answer that is not this call's."""

    rpc: str
    request: Message
    check: Callable[[Any], None]

    @property
    def writes(self) -> bool:
        return "request_id" in self.request.DESCRIPTOR.fields_by_name


@dataclass
class Talk:
    """`floors`: what was committed in each session, its root first, with its words."""

    randomly: random.Random
    floors: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _calls: int = 0

    async def begin(self, client: Client, sessions: int) -> None:
        for _ in range(sessions):
            session = (await client.call("CreateSession")).session
            self.floors[session.session_id] = [(session.root_floor_id, "")]
            for _ in range(2):
                ask = self._append(session.session_id)
                ask.check(await client.send(ask.rpc, ask.request))

    def ask(self) -> Ask:
        kinds = {
            self._append: 10,
            self._edit: 4,
            self._move: 2,
            self._create: 1,
            self._get: 2,
            self._list: 2,
            self._assemble: 2,
        }
        (kind,) = self.randomly.choices(list(kinds), list(kinds.values()))
        return kind(self.randomly.choice(list(self.floors)))

    def _words(self, session_id: str) -> str:
        self._calls += 1
        return f"{session_id} {self._calls}:"

    def _turn(self, words: str) -> dict[str, Any]:
        return {"input": [user(f"{words} asked")], "output": [assistant(f"{words} said")]}

    def _floor(self, session_id: str) -> tuple[str, str]:
        """A committed floor of the session that is not its root."""
        return self.randomly.choice(self.floors[session_id][1:])

    def _append(self, session_id: str) -> Ask:
        words = self._words(session_id)
        request = request_for("AppendFloor", session_id=session_id, **self._turn(words))
        return Ask("AppendFloor", request, partial(self._committed, session_id, words))

    def _edit(self, session_id: str) -> Ask:
        words, (floor_id, _) = self._words(session_id), self._floor(session_id)
        request = request_for("EditFloor", floor_id=floor_id, **self._turn(words))
        return Ask("EditFloor", request, partial(self._committed, session_id, words))

    def _committed(self, session_id: str, words: str, answer: Any) -> None:
        self._shows(answer.floor, session_id, words)
        assert answer.branch.head_floor_id == answer.floor.floor_id
        self.floors[session_id].append((answer.floor.floor_id, words))

    def _shows(self, floor: floor_pb2.Floor, session_id: str, words: str) -> None:
        assert floor.session_id == session_id
        assert [*texts(floor.input_page), *texts(floor.output_page)] == [f"{words} asked", f"{words} said"]

    def _move(self, session_id: str) -> Ask:
        floor_id, _ = self._floor(session_id)

        def check(answer: Any) -> None:
            assert (answer.branch.name, answer.branch.head_floor_id) == ("main", floor_id)

        return Ask("MoveHead", request_for("MoveHead", session_id=session_id, floor_id=floor_id), check)

    def _create(self, _: str) -> Ask:
        title = self._words("new")

        def check(answer: Any) -> None:
            assert (answer.session.title, answer.branch.name) == (title, "main")
            assert answer.branch.head_floor_id == answer.session.root_floor_id

        return Ask("CreateSession", request_for("CreateSession", title=title), check)

    def _get(self, session_id: str) -> Ask:
        floor_id, words = self._floor(session_id)

        def check(answer: Any) -> None:
            assert answer.floor.floor_id == floor_id
            self._shows(answer.floor, session_id, words)

        return Ask("GetFloor", request_for("GetFloor", floor_id=floor_id), check)

    def _list(self, session_id: str) -> Ask:
        def check(answer: Any) -> None:
            for floor in answer.floors:
                said = [*texts(floor.input_page), *texts(floor.output_page)]
                assert floor.session_id == session_id
                assert all(text.startswith(f"{session_id} ") for text in said)

        return Ask("ListPath", request_for("ListPath", session_id=session_id, page_size=20), check)

    def _assemble(self, session_id: str) -> Ask:
        words = self._words(session_id)

        def check(answer: Any) -> None:
            said = [text_of(message) for message in answer.messages]
            assert said[-1] == words
            assert all(text.startswith(f"{session_id} ") for text in said)

        given = {"messages": [user(words)]}
        return Ask(
            "AssembleContext", request_for("AssembleContext", session_id=session_id, input=given), check
        )
