"""Bad input 47: a model endpoint where none may be is refused, and nothing is connected."""

from collections.abc import Iterator

import grpc
import pytest

from tests.bad_inputs.world import ON_SQLITE_ONLY, World
from tests.conftest import DatabaseFactory
from tests.net.trap import redirect, trap
from tests.support.client import Client, connect, request_for, user
from tests.support.service import running_service

pytestmark = pytest.mark.asyncio(loop_scope="session")

# {} is the trap's port: whatever is connected by mistake is seen there.
URLS = [
    *("http://127.0.0.1:{}/v1", "http://[::1]:{}/v1", "http://[::ffff:7f00:1]:{}/v1", "http://0.0.0.0:{}/v1"),
    *("http://0x7f.1:{}/v1", "http://2130706433:{}/v1", "http://0177.1:{}/v1", "http://127.1:{}/v1"),
    *("http://169.254.169.254/latest/meta-data", "http://[fd00:ec2::254]/", "http://10.0.0.1/v1"),
    *("http://a@127.0.0.1:{}/v1", "http://a:b@h.example:{}/v1", "http://a\\@127.0.0.1:{}/v1"),
    *(
        "file:///etc/passwd",
        "gopher://127.0.0.1:{}/",
        "ftp://h.example/",
        "//127.0.0.1:{}/v1",
        "127.0.0.1:{}",
    ),
    *(
        "http://h.example\r\nX: y/",
        "http://h.example /v1",
        "http://\u2460\u2461\u2466.0.0.1:{}/v1",
        "http:///v1",
    ),
]


@ON_SQLITE_ONLY
@pytest.mark.parametrize("url", URLS)
async def test_bad_input_47(world: World, url: str) -> None:
    async with trap() as server:
        config = {"model": {"base_url": url.format(server.port), "api_key": "sk-secret"}}
        for name, fields in {
            "CreateProject": {"config": config},
            "CreateSession": {"config": {"pipeline": {"narrator": config}}},
            "Respond": {"overrides": config},
        }.items():
            answer = await world.ask(name, world.sample(name, **fields))
            assert answer.code is grpc.StatusCode.INVALID_ARGUMENT
            assert [field.rpartition(".")[2] for field in answer.fields] == ["base_url"]
            assert "sk-secret" not in answer.text
            assert str(server.port) not in answer.text
    assert server.connects == 0


@pytest.fixture
def sqlite_url(database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory("sqlite") as url:
        yield url


async def failure(client: Client, model: dict[str, str]) -> str:
    """The reason for which a run with this model ends FAILED; its stream ends OK."""
    session = (
        await client.call("CreateSession", config={"model": {"name": "m", **model}})
    ).session.session_id
    frames = await client.frames(
        "Respond", request_for("Respond", session_id=session, input={"messages": [user("hi")]})
    )
    return str(frames[-1].failed.reason)


async def test_bad_input_47_a_name_is_refused_when_it_is_asked(sqlite_url: str) -> None:
    """What it means is known only then: nothing says that it means the same at the next time."""
    async with trap() as server, running_service(sqlite_url) as service, connect(service.address) as client:
        assert await failure(client, {"base_url": f"http://localhost:{server.port}/v1"}) == "PROVIDER_INVALID"
    assert server.connects == 0


async def test_bad_input_47_a_redirect_is_not_followed(sqlite_url: str) -> None:
    async with trap() as inner, trap(redirect(f"http://127.0.0.1:{inner.port}/v1")) as outer:
        allowed = f"127.0.0.1:{outer.port},127.0.0.1:{inner.port}"
        async with (
            running_service(sqlite_url, allow_hosts=allowed) as service,
            connect(service.address) as client,
        ):
            model = {"provider": "openai", "base_url": f"http://127.0.0.1:{outer.port}/v1"}
            assert await failure(client, model) == "PROVIDER_INVALID"
    assert (outer.connects, inner.connects) == (1, 0)
