"""What the clients of a run know together, and what one of them does next."""

from __future__ import annotations

import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from stemma.kernel.v1 import floor_pb2, message_pb2

from tools.history.model import AT_THE_DOOR
from tools.history.recording import Recorder, Stopped, Told
from tools.history.wire import request_of

BRANCHES = ("main", "side")
# How many of the sessions all clients share, at most; the others belong to one each.
_SHARED = 2
_REMEMBERED = 64
_ATTEMPTS = 8
# A client that gives up at once does not know what became of its call.
_IMPATIENT = (0.001, 0.004, 0.012)


@dataclass(slots=True)
class Place:
    """A session as the clients know it: heads as last heard of, and some of its committed floors."""

    session_id: str
    root_floor_id: str
    heads: dict[str, str] = field(default_factory=dict)
    floors: deque[str] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


class World:
    """`left`: how many operations are still to be begun; None for no end."""

    def __init__(self, left: int | None) -> None:
        self.places: list[Place] = []
        self._left = left

    def takes_one(self) -> bool:
        """Whether another operation is to be begun; it counts as begun then."""
        if self._left is None:
            return True
        self._left -= 1
        return self._left >= 0


async def open_sessions(recorder: Recorder, world: World, sessions: int) -> None:
    """Sessions with a branch `side` each. Raises Stopped when told to stop before."""
    for _ in range(sessions):
        session = (await _certainly(recorder, "CreateSession")).session
        place = Place(session.session_id, session.root_floor_id)
        side = {"session_id": place.session_id, "name": "side", "floor_id": place.root_floor_id}
        await _certainly(recorder, "CreateBranch", **side)
        place.heads = dict.fromkeys(BRANCHES, place.root_floor_id)
        world.places.append(place)


async def _certainly(recorder: Recorder, method: str, **fields: Any) -> Any:
    request = request_of(method, request_id=str(uuid.uuid4()), **fields)
    attempts = count()
    while not (told := await recorder.call(method, request)).operation.acknowledged:
        if told.operation.refused and told.operation.reason not in AT_THE_DOOR:
            raise RuntimeError(f"{method} was refused: {told.operation.reason}")
        await recorder.before_another(told, next(attempts))
    return told.answer


class Client:
    """Does one thing after the other until there is no more to do, or it is told to stop."""

    def __init__(self, world: World, recorder: Recorder, seed: int, number: int) -> None:
        self._world, self._recorder, self._number = world, recorder, number
        self._random = Random(f"{seed}/{number}")
        self._said = 0
        self._past: deque[tuple[str, Any]] = deque(maxlen=_REMEMBERED)

    async def run(self) -> None:
        actions = {
            self._append: 50,
            self._edit: 10,
            self._regenerate: 10,
            self._move: 8,
            self._open: 8,
            self._repeat: 8,
            self._misuse: 6,
        }
        with suppress(Stopped):
            while not self._recorder.stop.is_set() and self._world.places and self._world.takes_one():
                place = self._place()
                branch = BRANCHES[self._random.random() < 0.2]
                (action,) = self._random.choices(list(actions), list(actions.values()))
                await action(place, branch)

    def _place(self) -> Place:
        places = self._world.places
        shared = places[:_SHARED]
        own = places[_SHARED:][self._number % max(1, len(places) - _SHARED) :][:1] or shared
        return self._random.choice(shared if self._random.random() < 0.5 else own)

    async def _append(self, place: Place, branch: str) -> None:
        told = await self._turn(place, "AppendFloor", self._target(place, branch), input=True)
        if told.operation.reason == "FLOOR_PENDING" and self._random.random() < 0.3:
            target = self._target(place, branch) | {"on_pending": floor_pb2.ON_PENDING_ABANDON}
            await self._turn(place, "AppendFloor", target, input=True)

    async def _edit(self, place: Place, branch: str) -> None:
        await self._turn(place, "EditFloor", self._named(place, branch), input=True)

    async def _regenerate(self, place: Place, branch: str) -> None:
        await self._turn(place, "RegenerateFloor", self._named(place, branch), input=False)

    async def _turn(self, place: Place, method: str, target: dict[str, Any], *, input: bool) -> Told:
        """A new turn with an output; one that names a floor appends when none is known."""
        if method != "AppendFloor" and "floor_id" not in target:
            method, input = "AppendFloor", True
        words = self._words()
        sides = {"output": [_message(message_pb2.ROLE_ASSISTANT, f"{words} is answered")]}
        if input:
            sides["input"] = [_message(message_pb2.ROLE_USER, f"{words} is asked")]
        return await self._do(place, method, **target, **sides)

    async def _move(self, place: Place, branch: str) -> None:
        target = self._target(place, branch)
        floor_id = self._random.choice([place.root_floor_id, *place.floors])
        await self._do(place, "MoveHead", **target, floor_id=floor_id)

    async def _open(self, place: Place, branch: str) -> None:
        asked = [_message(message_pb2.ROLE_USER, f"{self._words()} is asked")]
        told = await self._do(place, "OpenFloor", **self._target(place, branch), input=asked)
        if not told.operation.acknowledged:
            return
        pages, floor_id, head = [], told.answer.floor.floor_id, told.answer.branch.head_floor_id
        for _ in range(self._random.choice((1, 1, 2))):
            said = [_message(message_pb2.ROLE_ASSISTANT, f"{self._words()} is answered")]
            slot = message_pb2.SLOT_OUTPUT
            added = await self._do(place, "AddPage", floor_id=floor_id, slot=slot, messages=said)
            pages += [added.answer.page.page_id] if added.answer else []
        chosen = {"page_id": self._random.choice(pages)} if pages and self._random.random() < 0.7 else {}
        expected = {"expected_head": head} if self._random.random() < 0.5 else {}
        await self._do(place, "CommitFloor", floor_id=floor_id, **chosen, **expected)

    async def _repeat(self, place: Place, branch: str) -> None:
        """An old request again, to the letter."""
        if self._past:
            method, request = self._random.choice(self._past)
            await self._send(method, request)

    async def _misuse(self, place: Place, branch: str) -> None:
        """An old request's id with other content."""
        old = [(method, request) for method, request in self._past if method == "AppendFloor"]
        if old:
            method, request = self._random.choice(old)
            other = request_of(method)
            other.CopyFrom(request)
            other.output.append(_message(message_pb2.ROLE_ASSISTANT, f"{self._words()} is something else"))
            await self._send(method, other)

    async def _do(self, place: Place, method: str, **fields: Any) -> Told:
        """A new request, retried as long as nobody knows whether it happened; sometimes left at that."""
        request = request_of(method, request_id=str(uuid.UUID(int=self._random.getrandbits(128), version=4)))
        request.MergeFrom(request_of(method, **fields))
        hasty = self._random.random() < 0.05
        told = await self._send(method, request, self._random.choice(_IMPATIENT) if hasty else None)
        for attempt in range(_ATTEMPTS):
            if told.operation.acknowledged or told.operation.refused or self._random.random() < 0.1:
                break
            await self._recorder.before_another(told, attempt)
            told = await self._send(method, request)
        self._past.append((method, request))
        self._learn(place, fields.get("branch", ""), told)
        return told

    async def _send(self, method: str, request: Any, deadline: float | None = None) -> Told:
        return await self._recorder.call(method, request, deadline)

    def _learn(self, place: Place, branch: str, told: Told) -> None:
        operation = told.operation
        if head := operation.current_head:
            place.heads[branch or told.metadata["branch"]] = head
        answer = operation.answer
        if answer is not None and answer.head_floor_id:
            place.heads[told.answer.branch.name] = answer.head_floor_id
            if answer.state == "committed":
                place.floors.append(answer.floor_id)

    def _target(self, place: Place, branch: str) -> dict[str, Any]:
        """The branch, and every second time the head that it should have."""
        target: dict[str, Any] = {"session_id": place.session_id, "branch": branch}
        if self._random.random() < 0.5:
            target["expected_head"] = place.heads[branch]
        return target

    def _named(self, place: Place, branch: str) -> dict[str, Any]:
        target = self._target(place, branch)
        if place.floors:
            target["floor_id"] = self._random.choice(place.floors)
        return target

    def _words(self) -> str:
        """Something that no client ever said before."""
        self._said += 1
        return f"{self._recorder.name} {self._said} {self._random.getrandbits(64):016x}"


def _message(role: int, text: str) -> message_pb2.Message:
    return message_pb2.Message(role=message_pb2.Role.Name(role), parts=[{"text": {"text": text}}])
