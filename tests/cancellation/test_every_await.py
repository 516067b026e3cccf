"""A caller gone at any await of the write path: what it asked for happened whole or not at all (R3)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import pytest

from kernel.verbs.store import WriteTx
from tests.cancellation.base import Base, watched
from tests.cancellation.calls import Case, cases
from tests.cancellation.conftest import THOROUGH
from tests.cancellation.stage import TEMPLATE, Rows, Stage, staged
from tests.cancellation.stepping import Call, Leaves, Moment, When, run
from tests.cancellation.write_path import ELSEWHERE, OTHERS, is_named, write_path

pytestmark = pytest.mark.asyncio(loop_factories=["uvloop", "asyncio"] if THOROUGH else ["uvloop"])

_BEGUN = "SqlStore._write: await self._once"


@dataclass
class Walk:
    """All cancellations of one case. `left`: the awaits that callers were gone at, in this case and others
    before. `whole`: the rows and the answer of a call that nobody cancelled."""

    stage: Stage
    base: Base
    case: Case
    before: Rows
    left: set[tuple[str, When]]
    whole: tuple[Rows, bytes | None] = field(init=False)
    ends: Counter[str] = field(default_factory=Counter)

    async def go(self) -> None:
        tenant = await self.stage.tenant()
        calm = await self._run(tenant, lambda *_: False, When.BEGINS)
        self.whole = (await self.stage.rows(tenant), calm.answer)
        assert self.whole[0] != self.before
        await self._verified(tenant)
        for when in When:
            for leaves in _every_one() if THOROUGH else self._not_left_yet(calm.moments, when):
                call = await self._leave(await self.stage.tenant(), leaves, when)
                if THOROUGH and call.left_at is None:
                    break

    def _not_left_yet(self, moments: list[Moment], when: When) -> Iterator[Leaves]:
        """Moments at awaits that no caller was gone at before. That what another task of the call's waits for
        is over makes no difference to the caller. By what it is, not by its number: a statement waits more
        often when it is prepared."""
        for moment in moments:
            names = {(name, when) for name in moment.awaits}
            if names - self.left and (when is When.BEGINS or moment.callers):
                yield partial(_is_it, moment)

    async def _leave(self, tenant: str, leaves: Leaves, when: When) -> Call[bytes]:
        call = await self._run(tenant, leaves, when)
        at = call.left_at.awaits if call.left_at else ()
        self.left |= {(name, when) for name in at}
        try:
            await self._whole_or_absent(tenant, call)
        except BaseException as error:
            error.add_note(f"{self.case.rpc}, left as the wait {when.value}, at\n  " + "\n  ".join(at))
            raise
        return call

    async def _whole_or_absent(self, tenant: str, call: Call[bytes]) -> None:
        await self.base.reached()
        rows = await self.stage.rows(tenant)
        assert rows in (self.before, self.whole[0]), "half of it happened"
        happened = rows == self.whole[0]
        self.ends["whole" if happened else "absent"] += 1
        if call.answer is not None:
            assert (happened, call.answer) == (True, self.whole[1]), "what was answered did not happen"
        if call.left_at is not None and any(_BEGUN in name for name in call.left_at.awaits):
            assert happened, "a write that had begun was stopped"
        repeat = await self.stage.raw(tenant, self.case.rpc, self.case.fields)
        assert (await self.stage.rows(tenant), repeat) == self.whole

    async def _run(self, tenant: str, leaves: Leaves, when: When) -> Call[bytes]:
        work = partial(self.stage.raw, tenant, self.case.rpc, self.case.fields)
        if not self.case.behind:
            return await run(work, leaves, when)
        async with self._busy(tenant) as noticed:
            return await run(work, leaves, when, noticed)

    @asynccontextmanager
    async def _busy(self, tenant: str) -> AsyncIterator[Callable[[Moment], None]]:
        """Another writer of the session, which ends once somebody waits for its turn, or with the block."""
        entered, go_on = asyncio.Event(), asyncio.Event()

        async def work(_: WriteTx) -> None:
            entered.set()
            await go_on.wait()

        def noticed(moment: Moment) -> None:
            if any(name.startswith("kernel/storage/turns.py") for name in moment.awaits):
                go_on.set()

        store = self.stage.running.service.store
        other = asyncio.create_task(store.write(tenant, work, self.stage.places["session"]))
        await entered.wait()
        yield noticed
        go_on.set()
        await other

    async def _verified(self, tenant: str) -> None:
        if self.case.rpc != "DeleteSession":
            fields = {"session_id": self.stage.places["session"]}
            assert not (await self.stage.call(tenant, "VerifySession", fields)).problems


def _is_it(wanted: Moment, _: int, now: Moment) -> bool:
    return now == wanted


def _every_one() -> Iterator[Leaves]:
    return (partial(_is_number, wanted) for wanted in count())


def _is_number(wanted: int, now: int, _: Moment) -> bool:
    return now == wanted


async def test_a_caller_may_go_at_any_await_of_the_write_path(
    engine: str, migrated_url: str, record_property: Callable[[str, object], None]
) -> None:
    """Lists what it came to, and misses nothing of the write path that is not named in `write_path.py`."""
    left: set[tuple[str, When]] = set()
    ends: Counter[str] = Counter()
    async with staged(migrated_url) as stage, watched(stage.running.service.store, migrated_url) as base:
        before = await stage.rows(TEMPLATE)
        for case in cases(stage.places).values():
            walk = Walk(stage, base, case, before, left)
            await walk.go()
            ends += walk.ends
    assert ends["whole"] > 20
    assert ends["absent"] > 20
    reached = {name for name, _ in left}
    path = write_path()
    for name in path:
        # Into the junit file; `make cancel` prints them.
        record_property(
            "report" if THOROUGH else "await", f"{'left at' if name in reached else 'not at'} {name}"
        )
    named = [*ELSEWHERE, *OTHERS[engine]]
    missing = [name for name in path if name not in reached and not any(is_named(name, e) for e in named)]
    assert not missing, "\n".join(missing)
    needless = [e for e in named if not any(is_named(name, e) and name not in reached for name in path)]
    assert needless == [], "named as not reached, and reached, or gone"
    some = sum(name in reached for name in path)
    record_property("report", f"{some} of {len(path)} awaits, {dict(ends)}")
