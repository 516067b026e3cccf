"""What an accepted entry does to the tree of its session: by the rules of the verbs, and their code."""

from dataclasses import replace

from conversation_service.domain.staged import is_next_floor, is_on_head, path_effects
from kernel.errors import invalid
from kernel.tree.model import Branch, Floor, FloorState, Page, Slot
from kernel.verbs.answers import answer_of
from kernel.verbs.effects import Given, checked, seal_floor
from kernel.verbs.env import Env, ReadTx, Target, WriteTx
from kernel.verbs.moves import COMMIT, expect_head, head_floor, known_branch, move_head
from kernel.verbs.pages import child_place, new_floor, new_page, own_tokens, showable, with_output
from kernel.verbs.pending import free_branch, refuse_sealed
from kernel.verbs.queries import known_floor
from kernel.verbs.records import Answer, Event, Session
from kernel.verbs.staged_store import Placement, StagedEffects, StagedPage, StagedWrite

# The source of what came by the ledger: somebody with the right has read and accepted it.
STAGED = "staged"


def given(part: StagedEffects) -> Given:
    return Given(part.effects, part.covers, STAGED)


async def answered_floor(tx: ReadTx, entry: StagedWrite) -> Floor:
    """The floor that an OUTPUT_OF_FLOOR is for, OPEN or COMMITTED; RUN_ACTIVE, FLOOR_FAILED."""
    floor = await known_floor(tx, entry.target.floor_id, entry.target.session_id)
    if floor.state not in (FloorState.OPEN, FloorState.COMMITTED):
        refuse_sealed(floor)
    return floor


class Floors:
    """The floors of one entry, in one transaction: what it adds, and where the branch's head goes."""

    def __init__(self, tx: WriteTx, env: Env, session: Session, entry: StagedWrite, principal: str) -> None:
        self._tx, self._env, self._session, self._entry = tx, env, session, entry
        self._principal = principal
        self._branch: Branch | None = None
        self._moved = False
        # The floor that answers for the entry: its page's, or else its effects'.
        self._floor: Floor | None = None
        self._page: Page | None = None
        self._answers: Floor | None = None

    async def begin(self, expected_head: str | None, *, select: bool) -> str | None:
        """Checks the branch, as far as the entry has to do with it: what is pending, then its head. -> the
        head that the entry's floors go below; None when none does."""
        target = Target(self._session.session_id, self._entry.target.branch, expected_head)
        parts = self._entry.parts
        on_head = any(is_on_head(self._entry.target, part) for part in parts)
        if self._entry.target.placement is Placement.OUTPUT_OF_FLOOR:
            self._answers = await answered_floor(self._tx, self._entry)
        selects = select and self._answers is not None and self._answers.state is FloorState.COMMITTED
        if selects and expected_head is None:
            raise invalid("expected_head", "is required with select, for a committed floor")
        if on_head or selects:
            self._branch = await free_branch(self._tx, self._env, self._session, target)
        elif expected_head is not None:
            expect_head(await known_branch(self._tx, target), target)
        return self._branch.head_floor_id if self._branch and on_head else None

    def held_to_base(self, head_is_named: bool) -> bool:
        """Whether the head must be the one that the entry was written for: for a turn always, for effects
        unless the caller names the head that they go below."""
        turn = any(is_next_floor(self._entry.target, part) for part in self._entry.parts)
        return turn or not head_is_named

    async def effects(self, part: StagedEffects) -> None:
        """A floor that has effects only, below the head."""
        of_path = path_effects(part)
        if of_path is None:
            return
        parent, floor, opens = await self._below_head()
        floor = replace(floor, effects=await checked(self._tx, parent, given(of_path)))
        done = await self._commit(floor, parent, opens)
        await self._move(done)
        self._floor = self._floor or done

    async def page(self, part: StagedPage, *, select: bool) -> None:
        if self._answers is None:
            parent, floor, opens = await self._below_head()
            floor = replace(floor, input=self._new(floor, Slot.INPUT, part))
            done = await self._commit(self._with_output(floor, part), parent, opens)
            await self._move(done)
            self._floor = done
        elif self._answers.state is FloorState.OPEN:
            await self._candidate(self._answers, part, select=select)
        else:
            await self._sibling(self._answers, part, select=select)

    async def _candidate(self, floor: Floor, part: StagedPage, *, select: bool) -> None:
        page = self._new(floor, Slot.OUTPUT, part)
        assert page is not None
        await self._tx.insert_page(floor.floor_id, floor.session_id, page)
        await self._tx.touch_session(floor.session_id, page.tokens)
        if select:
            floor = showable(with_output(floor, page))
            await self._tx.update_pending(floor)
        self._floor, self._page = floor, page

    async def _sibling(self, answers: Floor, part: StagedPage, *, select: bool) -> None:
        """It shares the input page, or has none as that floor has none."""
        parent = await self._tx.floor(answers.parent_floor_id or "")
        assert parent is not None, "a floor below the root has its parent (foreign key)"
        floor, opens = await self._child(parent)
        floor = self._with_output(replace(floor, input=answers.input), part)
        done = await self._commit(floor, parent, opens)
        if select:
            await self._move(done)
        else:
            self._tell(done)
        self._floor = done

    async def _below_head(self) -> tuple[Floor, Floor, bool]:
        assert self._branch is not None
        parent = await head_floor(self._tx, self._branch)
        return parent, *await self._child(parent)

    async def _child(self, parent: Floor) -> tuple[Floor, bool]:
        """Its author is who staged it, whoever accepts."""
        place = await child_place(self._tx, parent)
        floor = new_floor(self._env, parent, place, self._entry.staged_by, self._entry.target.branch)
        return floor, place.opens_segment

    def _new(self, floor: Floor, slot: Slot, part: StagedPage) -> Page | None:
        content = part.input if slot is Slot.INPUT else part.output
        return new_page(self._env, floor.floor_id, slot, content, source=STAGED)

    def _with_output(self, floor: Floor, part: StagedPage) -> Floor:
        return replace(floor, output=self._new(floor, Slot.OUTPUT, part))

    async def _commit(self, floor: Floor, parent: Floor, opens: bool) -> Floor:
        done = await seal_floor(self._tx, self._env, self._session, floor, parent)
        await self._tx.insert_floor(done, opens)
        await self._tx.touch_session(self._session.session_id, own_tokens(done))
        return done

    async def _move(self, to: Floor) -> None:
        assert self._branch is not None
        self._branch = await move_head(
            self._tx, self._env, self._session, self._branch, to, COMMIT, self._principal
        )
        self._moved = True

    def _tell(self, done: Floor) -> None:
        """A commit beside the head: its event names no move."""
        payload: dict[str, str | int] = {
            "branch": done.branch,
            "principal": self._principal,
            "parent_floor_id": done.parent_floor_id or "",
            "depth": done.place.depth,
            "digest": done.digest.hex() if done.digest else "",
        }
        event = Event(self._env.new_id(), "floor.committed", done.session_id, done.floor_id, payload)
        self._tx.emit(self._session.project_id, event)

    def answer(self) -> Answer:
        branch = self._branch if self._moved else None
        if self._floor is None:
            return Answer(self._session.session_id, branch=branch)
        return answer_of(self._floor, branch, self._page)
