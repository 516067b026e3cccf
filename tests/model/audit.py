"""Asks the service everything that can be asked of a session, and compares it with the model."""

from stemma.kernel.v1 import floor_pb2

from tests.model.digests import proto
from tests.model.values import ROOT, Msg
from tests.model.wire import Comparison
from tests.support.client import Client

SMALL_PAGE = 7


class Audit:
    """Every list is read in small pages, so that paging is compared too."""

    def __init__(self, client: Client, comparison: Comparison) -> None:
        self._client = client
        self._same = comparison
        self._model = comparison.model
        self._session = {"session_id": comparison.session_id}

    async def everything(self) -> None:
        await self.tree()
        await self.branches()
        for name in self._model.branches:
            await self.branch(name)
        await self.named(self._model.branches["main"].head)
        for key in self._sample():
            await self.floor(key)

    async def branch(self, name: str) -> None:
        await self.path(name)
        await self.context(name)
        await self.head_moves(name)

    def _sample(self) -> list[int]:
        """A few floors of every age, the newest among them."""
        keys = [key for key in self._model.floors if key != ROOT]
        return keys[:: -max(1, len(keys) // 2)]

    async def tree(self) -> None:
        floors = await self._client.everything("GetTree", "floors", page_size=SMALL_PAGE, **self._session)
        by_id = {floor.floor_id: floor for floor in floors}
        assert len(by_id) == len(floors) == len(self._model.floors)
        seen = {""}
        for floor in floors:
            assert floor.parent_floor_id in seen, "a child before its parent"
            seen.add(floor.floor_id)
        for key, floor in self._model.floors.items():
            self._same.same_floor(floor, by_id[self._same.floors.of(key)], bodies=False)

    async def branches(self) -> None:
        found = await self._client.everything("ListBranches", "branches", page_size=2, **self._session)
        assert [branch.name for branch in found] == sorted(self._model.branches)
        for branch in found:
            self._same.same_branch(self._model.branches[branch.name], branch)

    async def path(self, name: str) -> None:
        branch = self._model.branches[name]
        keys = self._model.path(branch.head)[1:]
        answer = await self._client.call("ListPath", branch=name, page_size=1000, **self._session)
        assert answer.head_floor_id == self._same.floors.of(branch.head)
        assert answer.HasField("pending_floor") == (branch.pending is not None)
        if branch.pending is not None:
            self._same.same_floor(self._model.floors[branch.pending], answer.pending_floor)
        for key, floor, position in zip(keys, answer.floors, answer.positions, strict=True):
            self._same.same_floor(self._model.floors[key], floor)
            self._same.same_position(key, position)
        _one_thread(answer.floors)

    async def context(self, name: str) -> None:
        answer = await self._client.call("AssembleContext", branch=name, **self._session)
        assert list(answer.messages) == [proto(message) for message in self._model.context(name)]

    async def named(self, key: int) -> None:
        """A floor named instead of a branch: its path backwards, and its context with a question."""
        floor = {"floor_id": self._same.floors.of(key)} | self._session
        newest_first = floor_pb2.PATH_ORDER_HEAD_FIRST
        path = await self._client.everything(
            "ListPath", "floors", order=newest_first, page_size=SMALL_PAGE, **floor
        )
        for expected, found in zip(self._model.path(key)[:0:-1], path, strict=True):
            self._same.same_floor(self._model.floors[expected], found)
        answer = await self._client.call("AssembleContext", input={"messages": [ASKED]}, **floor)
        assert list(answer.messages) == [proto(m) for m in self._model.context_at(key)] + [ASKED]

    async def head_moves(self, name: str) -> None:
        found = await self._client.everything(
            "ListHeadMoves", "head_moves", branch=name, page_size=SMALL_PAGE, **self._session
        )
        shown = [(move.branch, move.from_floor_id, move.to_floor_id, move.kind) for move in found]
        ids = self._same.floors
        assert shown == [
            (m.branch, ids.of(m.source), ids.of(m.target), m.kind) for m in self._model.head_moves(name)
        ]

    async def floor(self, key: int) -> None:
        floor_id = self._same.floors.of(key)
        answer = await self._client.call("GetFloor", floor_id=floor_id)
        self._same.same_floor(self._model.floors[key], answer.floor)
        self._same.same_position(key, answer.position)
        await self._siblings(key, floor_id)
        await self._pages(key, floor_id)
        await self._explanation(key, answer.floor)

    async def _explanation(self, key: int, floor: floor_pb2.Floor) -> None:
        """Whatever has happened since: recorded or not, no model is sent anything but the path (C4)."""
        answer = await self._client.call("ExplainFloor", floor_id=floor.floor_id)
        assert answer.recorded == bool(floor.run_id)
        assert list(answer.messages) == [proto(message) for message in self._model.sent(key)]

    async def _siblings(self, key: int, floor_id: str) -> None:
        answer = await self._client.call("ListSiblings", floor_id=floor_id, page_size=1000)
        keys = self._model.siblings(key)
        for sibling, floor, position in zip(keys, answer.floors, answer.positions, strict=True):
            self._same.same_floor(self._model.floors[sibling], floor)
            self._same.same_position(sibling, position)
        path = self._model.path(self._model.branches["main"].head)
        current = [sibling for sibling in keys if sibling in path]
        assert answer.current_floor_id == self._same.floors.of(current[0] if current else None)

    async def _pages(self, key: int, floor_id: str) -> None:
        floor = self._model.floors[key]
        answer = await self._client.call("ListPages", floor_id=floor_id, page_size=1000)
        for page, shown in zip(floor.pages, answer.pages, strict=True):
            self._same.same_page(self._model.pages[page], shown)
        assert answer.input_page_id == self._same.pages.of(floor.input)
        assert answer.output_page_id == self._same.pages.of(floor.output)


ASKED = proto(Msg(2, "and now?"))


def _one_thread(floors: list[floor_pb2.Floor]) -> None:
    """Along a path each message names the one before it."""
    before = ""
    for floor in floors:
        for message in [*floor.input_page.messages, *floor.output_page.messages]:
            assert message.parent_message_id == before
            before = message.message_id
