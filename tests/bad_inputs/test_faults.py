"""Something breaks inside, in a way that nobody foresaw: 60, for every RPC."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.bad_inputs.world import ASKING, World, refused

pytestmark = pytest.mark.asyncio(loop_scope="session")

SECRET = "a secret of the database at /srv/stemma/data"
FAULTS: list[Callable[[], Exception]] = [
    lambda: RuntimeError(SECRET),
    lambda: KeyError(SECRET),
    lambda: AssertionError(SECRET),
    lambda: RecursionError(SECRET),
    lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
]


def break_store(patch: pytest.MonkeyPatch, world: World, fault: Callable[[], Exception]) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise fault()

    async def broken_later(*_: Any, **__: Any) -> Any:
        raise fault()

    store = world.service.service.store
    for name in ("reading", "glances"):
        patch.setattr(store, name, broken)
    for name in ("write", "append"):
        patch.setattr(store, name, broken_later)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault()).__name__)
async def test_bad_input_60_an_exception_inside(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], Exception]
) -> None:
    error_ids = set()
    with monkeypatch.context() as patch, capture_logs() as logged:
        break_store(patch, world, fault)
        for name in ASKING:
            answer = refused(await world.ask(name, world.sample(name)), "INTERNAL", "INTERNAL")
            assert "secret" not in f"{answer.text}{answer.status}{answer.trailers}"
            error_ids.add(str(uuid.UUID(answer.info.metadata["error_id"])))
        assert await world.healthy()
    assert len(error_ids) == len(ASKING)
    # Whoever reports the id is helped: the log has the cause under it.
    causes = {line["error_id"]: line["exc_info"] for line in logged if "error_id" in line}
    assert set(causes) == error_ids
    assert {str(cause) for cause in causes.values()} == {str(fault())}


async def test_bad_input_60_in_the_middle_of_a_transaction(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a write is none: what was written before the fault is rolled back."""
    from kernel.storage.writes import Writes

    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(SECRET)

    writes = ["AppendFloor", "OpenFloor", "EditFloor", "MoveHead", "CommitFloor", "AbandonFloor", "Respond"]
    with monkeypatch.context() as patch, capture_logs():
        # The last thing that every write does before its commit.
        patch.setattr(Writes, "flush_events", broken)
        for name in writes:
            answer = await world.ask(name, world.sample(name))
            refused(answer, "INTERNAL", "INTERNAL")
