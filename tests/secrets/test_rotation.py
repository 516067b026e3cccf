"""STEMMA_SECRET_KEY is replaced while everything goes on: `old`, `old,new`, `new,old`, and `new` alone.

Nothing fails on the way, and at its end nothing needs the old key but the page tokens that it signed.
"""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

import draft_service.resealing
from conversation_service.resealing import reseal
from kernel.sealing import CannotOpen, Seals
from kernel.storage import resealing
from kernel.storage.engine import Engines
from kernel.storage.resealing import Resealed, Resealing
from kernel.storage.tables import metadata
from tests.conftest import DatabaseFactory
from tests.drafts.stage import on_stage
from tests.generation.endpoint import Endpoint, endpoint
from tests.projects.stage import mask
from tests.projects.test_own_endpoints import KEY, Scene, answers, keys_sent, mine
from tests.support.client import connect, request_for
from tests.support.service import SECRET_KEY, running_service

OLD, NEW = bytes([1] * 32), bytes([2] * 32)
SEALED = re.compile(r"s1\.[A-Za-z0-9_-]+=*")


def setting(*keys: bytes) -> str:
    return ",".join(base64.b64encode(key).decode() for key in keys)


def opens(keys: list[bytes], sealed: str) -> bool:
    try:
        Seals(keys).open("local", sealed)
    except CannotOpen:
        return False
    return True


async def all_sealed(url: str) -> list[str]:
    """Every sealed secret that is anywhere in the database."""
    found: list[str] = []
    engines = Engines(url)
    try:
        async with engines.reading() as connection:
            for table in metadata.sorted_tables:
                for row in await connection.execute(select(table)):
                    found += SEALED.findall(repr(tuple(row)))
    finally:
        await engines.close()
    return found


@asynccontextmanager
async def replica(url: str, keys: list[bytes], *endpoints: Endpoint) -> AsyncIterator[tuple[Scene, Engines]]:
    """A service that may ask both endpoints, and its database."""
    hosts = ",".join(urlsplit(server.base_url).netloc for server in endpoints)
    async with (
        running_service(url, provider="", allow_hosts=hosts, secret_key=setting(*keys)) as running,
        connect(running.address) as client,
    ):
        yield Scene(client, *endpoints, url), running.service.store._engines


class Load:
    """Callers that write, and ask models with their keys, until they are stopped; each failure ends it."""

    def __init__(self) -> None:
        self.rounds = 0
        self._stopped = asyncio.Event()
        self._more = asyncio.Condition()

    @asynccontextmanager
    async def on(self, *scenes: Scene) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            self._stopped.clear()
            for scene in scenes:
                group.create_task(self._caller(scene))
            yield
            await self.until(self.rounds + 2 * len(scenes))
            self._stopped.set()

    async def until(self, rounds: int) -> None:
        async with asyncio.timeout(60), self._more:
            await self._more.wait_for(lambda: self.rounds >= rounds)

    async def _caller(self, scene: Scene) -> None:
        project = await scene.project(mine(scene.first))
        while not self._stopped.is_set():
            session = await scene.session(project, mine(scene.second))
            assert await scene.said(session) == "from my own"
            changed = mine(scene.first)
            changed.model.temperature = 0.5
            await scene.client.call(
                "UpdateProject", project_id=project, config=changed, update_mask=mask("config.model")
            )
            assert await scene.said(await scene.session(project)) == "from my own"
            async with self._more:
                self.rounds += 1
                self._more.notify_all()


@pytest.fixture
async def endpoints() -> AsyncIterator[tuple[Endpoint, Endpoint]]:
    async with endpoint(answers) as first, endpoint(answers) as second:
        yield first, second


async def test_rotation_under_load(
    migrated_url: str,
    engine: str,
    endpoints: tuple[Endpoint, Endpoint],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resealing, "_ROWS", 7)
    replicas = 1 if engine == "sqlite" else 2
    load = Load()

    @asynccontextmanager
    async def phase(*keys: list[bytes]) -> AsyncIterator[tuple[Scene, Engines]]:
        """A replica with each of these lists; on SQLite there is one at a time: the last."""
        async with AsyncExitStack() as stack:
            started = [
                await stack.enter_async_context(replica(migrated_url, one, *endpoints))
                for one in keys[-replicas:]
            ]
            await stack.enter_async_context(load.on(*[scene for scene, _ in started]))
            yield started[-1]

    made = request_for("CreateProject", title="p", config=mine(endpoints[0]))
    async with phase([OLD], [OLD]) as (scene, _):
        answer = await scene.client.raw("CreateProject", made)
        project = (await scene.client.send("CreateProject", made)).project.project_id
        first_page = await scene.client.call("ListProjects", page_size=1)
    assert (await all_sealed(migrated_url)) != []
    # Replicas with and without the new key side by side: only what all of them open is sealed and signed.
    async with phase([OLD], [OLD, NEW]) as (scene, _):
        await scene.client.call("ListProjects", page_size=1, page_token=first_page.next_page_token)
    async with phase([OLD, NEW], [NEW, OLD]) as (scene, _):
        await scene.client.call("ListProjects", page_size=1, page_token=first_page.next_page_token)
    async with phase([NEW, OLD], [NEW, OLD]) as (scene, engines):
        done = await Resealing(engines, Seals([NEW, OLD])).run()
        assert (done.moved, done.unreadable) == (0, 0)
        await load.until(load.rounds + 2)
        assert (await Resealing(engines, Seals([NEW, OLD])).run()).changed == 0
        token = (await scene.client.call("ListProjects", page_size=1)).next_page_token
    sealed = await all_sealed(migrated_url)
    assert len(sealed) > 10
    assert all(opens([NEW], one) for one in sealed)
    async with phase([NEW], [NEW]) as (scene, _):
        # What was written under the old key is used, and repeated, as it was.
        assert await scene.said(await scene.session(project)) == "from my own"
        assert await scene.client.raw("CreateProject", made) == answer
        await scene.client.call("ListProjects", page_size=1, page_token=token)
        refused = await scene.client.refused(
            "ListProjects", page_size=1, page_token=first_page.next_page_token
        )
        assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID")
    for server in endpoints:
        assert set(keys_sent(server)) == {KEY}, "nobody was ever asked without the key, or with another"


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("sqlite") as url:
        yield url


async def test_what_somebody_writes_meanwhile_is_never_undone(
    sqlite_url: str, endpoints: tuple[Endpoint, Endpoint]
) -> None:
    """A row that is another since it was read is left, and found by the next pass."""
    async with replica(sqlite_url, [OLD], *endpoints) as (scene, engines):
        project = await scene.project(mine(endpoints[0]), title="before")

        class Raced(Resealing):
            async def _row(self, column: Any, row: Any) -> Resealed:
                if column.table.name == "project":
                    await scene.client.call(
                        "UpdateProject",
                        project_id=project,
                        title="meanwhile",
                        config=mine(endpoints[1], "sk-newer"),
                        update_mask=mask("title", "config"),
                    )
                return await super()._row(column, row)

        raced = await Raced(engines, Seals([NEW, OLD])).one_pass()
        assert raced.moved == 1
        assert not raced.none_left
        done = await Resealing(engines, Seals([NEW, OLD])).run()
        assert done.changed >= 1
        assert done.moved == 0
    async with replica(sqlite_url, [NEW], *endpoints) as (scene, _):
        assert (await scene.client.call("GetProject", project_id=project)).project.title == "meanwhile"
        assert await scene.said(await scene.session(project)) == "from my own"
        assert keys_sent(endpoints[1]) == ["sk-newer"]


async def test_a_service_with_an_old_key_reseals_by_itself_and_says_when_it_is_done(
    sqlite_url: str, endpoints: tuple[Endpoint, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resealing, "_REST", 0.0)
    async with replica(sqlite_url, [OLD], *endpoints) as (scene, _):
        await scene.session(await scene.project(mine(endpoints[0])), mine(endpoints[1]))
    done = asyncio.Event()
    told: list[dict[str, Any]] = []

    def heard(_logger: Any, _name: str, line: Any) -> Any:
        told.append(line)
        if "no secret here" in line["event"]:
            done.set()
        return line

    with capture_logs(processors=[heard]):
        async with replica(sqlite_url, [NEW, OLD], *endpoints), asyncio.timeout(30):
            await done.wait()
    assert all(opens([NEW], one) for one in await all_sealed(sqlite_url))
    (line,) = [line for line in told if "no secret here" in line["event"]]
    assert line["resealed"] >= 4
    assert line["unreadable"] == 0


async def test_resealing_a_database_that_nobody_serves(sqlite_url: str, draft_url: str) -> None:
    """What `stemma keys reseal` does, for both services; digests stay as they were."""
    model = {"model": {"base_url": "https://1.0.0.1/v1", "api_key": KEY, "name": "mine"}}
    old = base64.b64decode(SECRET_KEY)
    async with on_stage(sqlite_url, draft_url) as stage:
        await stage.client.call("CreateProject", title="p", config=model)
        session = await stage.session(1)
        made = await stage.draft.draft(session_id=session, config=model)
        twin = await stage.draft.draft(session_id=session, config=model)
        assert made.config_digest == twin.config_digest, "a digest is over what is said, not how it is sealed"
    for url, bring in ((sqlite_url, reseal), (draft_url, draft_service.resealing.reseal)):
        assert (await bring(url, [NEW, old])).changed > 0
        assert await bring(url, [NEW, old]) == Resealed()
        assert await bring(url, [NEW]) == Resealed()
        sealed = await all_sealed(url)
        assert sealed
        assert all(opens([NEW], one) for one in sealed)
    async with on_stage(sqlite_url, draft_url, secret_key=setting(NEW)) as stage:
        assert (await stage.draft.get(made.draft_id)).config_digest == made.config_digest
        assert not (await stage.client.call("VerifySession", session_id=session)).problems
