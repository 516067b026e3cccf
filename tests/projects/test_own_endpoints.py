"""A model endpoint of one's own: used with its own key, which nothing gives out again."""

import base64
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select
from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.kernel.v1 import config_pb2

from kernel.storage.engine import Engines
from kernel.storage.tables import metadata
from tests.conftest import DatabaseFactory
from tests.generation.endpoint import SSE_HEAD, Endpoint, Exchange, endpoint
from tests.projects.stage import mask
from tests.support.client import Client, connect, request_for, text_of, texts, user
from tests.support.service import SECRET_KEY, running_service

KEY = "sk-never-to-be-seen-again"


async def answers(exchange: Exchange) -> None:
    await exchange.send(SSE_HEAD)
    await exchange.say(content="from my own")
    await exchange.finish(usage=(7, 3))


def mine(server: Endpoint, api_key: str | None = KEY) -> config_pb2.Config:
    key = {} if api_key is None else {"api_key": api_key}
    return config_pb2.Config(model={"base_url": server.base_url, "name": "m", **key})


def keys_sent(server: Endpoint) -> list[str]:
    return [exchange.headers["authorization"].removeprefix("Bearer ") for exchange in server.exchanges]


@dataclass(frozen=True)
class Scene:
    client: Client
    first: Endpoint
    second: Endpoint
    url: str

    async def project(self, config: config_pb2.Config, **fields: Any) -> str:
        answer = await self.client.call("CreateProject", config=config, **fields)
        return str(answer.project.project_id)

    async def session(self, project: str, config: config_pb2.Config | None = None) -> str:
        answer = await self.client.call("CreateSession", project_id=project, config=config)
        return str(answer.session.session_id)

    async def said(self, session: str, **fields: Any) -> str:
        floor = await self.client.respond(session, input={"messages": [user("hi")]}, **fields)
        return texts(floor.output_page)[-1]


@asynccontextmanager
async def served(
    url: str, first: Endpoint, second: Endpoint, secret_key: str = SECRET_KEY
) -> AsyncIterator[Scene]:
    """A service that may ask both endpoints."""
    hosts = ",".join(urlsplit(server.base_url).netloc for server in (first, second))
    async with (
        running_service(url, provider="", allow_hosts=hosts, secret_key=secret_key) as service,
        connect(service.address) as client,
    ):
        yield Scene(client, first, second, url)


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    """Most of it is nothing that an engine sees."""
    with database_factory("sqlite") as url:
        yield url


@pytest.fixture
async def scene(sqlite_url: str) -> AsyncIterator[Scene]:
    async with playing(sqlite_url) as scene:
        yield scene


@pytest.fixture
async def stored_scene(migrated_url: str) -> AsyncIterator[Scene]:
    async with playing(migrated_url) as scene:
        yield scene


@asynccontextmanager
async def playing(url: str) -> AsyncIterator[Scene]:
    async with (
        endpoint(answers) as first,
        endpoint(answers) as second,
        served(url, first, second) as scene,
    ):
        yield scene


async def test_an_endpoint_is_asked_with_the_key_of_its_layer_and_no_other(scene: Scene) -> None:
    project = await scene.project(mine(scene.first))
    plain = await scene.session(project)
    assert await scene.said(plain) == "from my own"
    assert keys_sent(scene.first) == [KEY]

    # Another address in a higher layer, a session's or a call's, is not sent a lower one's key.
    elsewhere = await scene.session(project, mine(scene.second, None))
    assert await scene.said(elsewhere) == "from my own"
    assert await scene.said(plain, overrides=mine(scene.second, None)) == "from my own"
    assert await scene.said(plain, overrides=mine(scene.second, "sk-mine")) == "from my own"
    assert keys_sent(scene.second) == ["none", "none", "sk-mine"]
    assert keys_sent(scene.first) == [KEY]
    # The operator's own providers are there still.
    assert "scripted" in await scene.said(plain, overrides={"model": {"provider": "scripted"}})


async def test_moving_an_address_leaves_its_key_behind(scene: Scene) -> None:
    project = await scene.project(mine(scene.first))
    session = await scene.session(project)
    changed = await scene.client.call(
        "UpdateProject",
        project_id=project,
        config=mine(scene.second, None),
        update_mask=mask("config.model.base_url"),
    )
    assert not changed.project.config.model.api_key_set
    await scene.said(session)
    assert keys_sent(scene.second) == ["none"]

    # An earlier version is one with its key.
    restored = await scene.client.call("RestoreConfigVersion", project_id=project, version=1)
    assert restored.project.config.model.api_key_set
    await scene.said(session)
    assert keys_sent(scene.first) == [KEY]


async def test_writing_back_what_was_read_keeps_the_key_and_an_empty_one_takes_it_away(scene: Scene) -> None:
    project = await scene.project(mine(scene.first))
    read = (await scene.client.call("GetProject", project_id=project)).project.config
    assert (read.model.api_key, read.model.api_key_set) == ("", True)
    read.model.temperature = 0.5
    for config, is_set in [(read, True), (mine(scene.first, ""), False)]:
        answer = await scene.client.call(
            "UpdateProject", project_id=project, config=config, update_mask=mask("config")
        )
        assert answer.project.config.model.api_key_set is is_set
        await scene.said(await scene.session(project))
    assert keys_sent(scene.first) == [KEY, "none"]


async def test_a_key_is_in_no_answer_no_row_and_no_line_of_the_log(
    stored_scene: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    scene, seen = stored_scene, list[bytes]()

    async def ask(name: str, /, **fields: Any) -> Any:
        answer = await scene.client.call(name, **fields)
        seen.append(answer.SerializeToString())
        return answer

    creation = request_for("CreateProject", title="t", config=mine(scene.first))
    first = await scene.client.raw("CreateProject", creation)
    # A repeat is answered with what is stored (R1).
    assert await scene.client.raw("CreateProject", creation) == first
    seen.append(first)
    stage = {"director": {"model": {"base_url": scene.second.base_url, "api_key": KEY}}}
    session = (await ask("CreateSession", config={"pipeline": stage})).session.session_id
    own = await scene.session("default", mine(scene.first))
    floor = await scene.client.respond(own, input={"messages": [user("hi")]})
    again = request_for(
        "Respond", session_id=own, input={"messages": [user("so")]}, overrides=mine(scene.second)
    )
    for _ in range(2):
        seen += [frame.SerializeToString() for frame in await scene.client.frames("Respond", again)]
    await ask("GetSession", session_id=session)
    await ask("ListSessions")
    await ask("GetEffectiveConfig", session_id=own)
    await ask("GetConfigVersion", session_id=own, version=1)
    await ask("ListConfigVersions", session_id=own)
    explained = await ask("ExplainFloor", floor_id=floor.floor_id)
    assert text_of(explained.messages[-1]) == "hi"
    await ask("AssembleContext", session_id=own, options={"overrides": mine(scene.first)})
    await ask("ForkSession", session_id=own, floor_id=floor.floor_id)
    await ask("ListEvents", project_id="default")
    seen.append(await exported(scene.client, own))
    assert len(keys_sent(scene.first) + keys_sent(scene.second)) == 2

    everything = b"".join(seen)
    assert b"own endpoint" not in everything
    assert scene.first.base_url.encode() in everything
    assert KEY.encode() not in everything
    assert b"s1." not in everything, "nor as it is sealed"
    rows = await stored(scene.url)
    assert KEY not in rows
    assert "s1." in rows
    assert KEY not in "".join(capfd.readouterr())


async def exported(client: Client, session: str) -> bytes:
    stream = client.stream("ExportSession", pb.ExportSessionRequest(session_id=session, format="stemma"))
    return b"".join([one.file.data async for one in stream])


async def stored(url: str) -> str:
    """Every row of every table."""
    engines = Engines(url)
    try:
        async with engines.reading() as connection:
            found = [
                repr(tuple(row))
                for table in metadata.sorted_tables
                for row in await connection.execute(select(table))
            ]
    finally:
        await engines.close()
    return "\n".join(found)


async def test_a_fork_asks_with_the_same_key(scene: Scene) -> None:
    own = await scene.session("default", mine(scene.first))
    floor = await scene.client.respond(own, input={"messages": [user("hi")]})
    fork = await scene.client.call("ForkSession", session_id=own, floor_id=floor.floor_id)
    await scene.said(fork.session.session_id)
    assert keys_sent(scene.first) == [KEY, KEY]


async def test_the_servers_key_can_be_replaced_while_the_old_one_is_kept(sqlite_url: str) -> None:
    new = base64.b64encode(bytes(range(32, 64))).decode()
    async with endpoint(answers) as server:
        async with served(sqlite_url, server, server) as scene:
            session = await scene.session("default", mine(server))
        async with served(sqlite_url, server, server, new) as scene:
            request = request_for("Respond", session_id=session, input={"messages": [user("hi")]})
            refusal = await scene.client.refusal("Respond", request)
            floors = await scene.client.path_ids(session)
        async with served(sqlite_url, server, server, f"{new},{SECRET_KEY}") as scene:
            await scene.said(session)
    assert (refusal.code, refusal.reason) == ("FAILED_PRECONDITION", "SECRET_UNREADABLE")
    assert floors == [], "refused before a floor was opened"
    assert keys_sent(server) == [KEY]


async def test_the_same_request_with_another_key_is_other_content(scene: Scene) -> None:
    request_id = str(uuid.uuid4())
    await scene.project(mine(scene.first), request_id=request_id)
    other = request_for("CreateProject", config=mine(scene.first, "sk-other"), request_id=request_id)
    assert (await scene.client.refusal("CreateProject", other)).reason == "REQUEST_ID_REUSED"


async def test_what_the_server_sets_is_ignored_when_it_is_given_and_refused_when_it_is_named(
    scene: Scene,
) -> None:
    project = await scene.project(config_pb2.Config(model={"api_key_set": True}))
    read = (await scene.client.call("GetProject", project_id=project)).project
    assert not read.config.model.HasField("api_key_set")
    named = request_for(
        "UpdateProject", project_id=project, update_mask=mask("config.model.api_key_set"), config=read.config
    )
    assert (await scene.client.refusal("UpdateProject", named)).code == "INVALID_ARGUMENT"
