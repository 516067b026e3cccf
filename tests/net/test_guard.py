"""Bad input 47 at the guard itself: what it refuses is never connected, and what it gives out is."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import httpx2
import pytest

from kernel.net.addresses import IPAddress
from kernel.net.guard import AddressRefused, Guard, allowed_hosts, guarded_client
from tests.net.trap import redirect, trap


class Names:
    """A resolver with answers for each name, one after the other; the last one stays."""

    def __init__(self, **answers: Sequence[str]) -> None:
        self.asked: list[str] = []
        self._answers = {name: [answer.split() for answer in given] for name, given in answers.items()}

    async def __call__(self, host: str, port: int) -> Sequence[IPAddress]:
        self.asked.append(host)
        answers = self._answers[host.replace(".test", "")]
        texts = answers.pop(0) if len(answers) > 1 else answers[0]
        return [ip_address(text) for text in texts]


SPELLINGS = [
    *(
        "http://127.0.0.1:{port}",
        "http://127.1.2.3:{port}",
        "http://0.0.0.0:{port}",
        "http://localhost:{port}",
    ),
    *("http://[::1]:{port}", "http://[::ffff:7f00:1]:{port}", "http://[::ffff:127.0.0.1]:{port}"),
    *("http://[::]:{port}", "http://127.1:{port}", "http://0x7f.1:{port}", "http://2130706433:{port}"),
    *("http://0177.0.0.1:{port}", "http://a@127.0.0.1:{port}", "http://a\\@127.0.0.1:{port}"),
    *("http://169.254.169.254/latest", "http://metadata.google.internal:{port}", "http://mine.test:{port}"),
    *(
        "http://mixed.test:{port}",
        "http://six.test:{port}",
        "http://localhost.:{port}",
        "https://mine.test:{port}",
    ),
]
NAMES = {
    "localhost": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "mine": ["127.0.0.1"],
    "mixed": ["93.184.216.34 127.0.0.1"],
    "six": ["::ffff:7f00:1"],
}


@pytest.mark.parametrize("url", SPELLINGS)
async def test_bad_input_47_is_refused_before_anything_is_connected(url: str) -> None:
    async with trap() as server, guarded_client(Guard(resolve=Names(**NAMES))) as client:
        # The client's own parser refuses some of them first.
        with pytest.raises((AddressRefused, httpx2.InvalidURL)):
            await client.get(url.format(port=server.port))
    assert server.connects == 0


@pytest.mark.parametrize("url", [*SPELLINGS, "http://hidden.test/", "file:///etc/passwd", "gopher://x/"])
async def test_bad_input_47_is_refused_as_a_redirect_too(url: str) -> None:
    names = Names(first=["127.0.0.1"], hidden=["10.0.0.1"], **NAMES)
    guard = Guard(allowed_hosts("first.test"), resolve=names)
    async with (
        trap() as inner,
        trap(redirect(url.format(port=inner.port))) as outer,
        guarded_client(guard, follow_redirects=True) as client,
    ):
        with pytest.raises((AddressRefused, httpx2.UnsupportedProtocol, httpx2.RemoteProtocolError)):
            await client.get(f"http://first.test:{outer.port}/")
    assert (outer.connects, inner.connects) == (1, 0)


async def test_bad_input_47_a_name_that_changes_is_refused_when_it_has_changed() -> None:
    names = Names(turns=["93.184.216.34", "127.0.0.1"])
    guard = Guard(resolve=names)
    async with trap() as server, guarded_client(guard) as client:
        url = f"http://turns.test:{server.port}/"
        assert await guard.addresses(url) == [ip_address("93.184.216.34")]
        with pytest.raises(AddressRefused):
            await client.get(url)
    assert server.connects == 0


async def test_a_request_is_connected_to_what_was_resolved_once_and_keeps_its_host() -> None:
    names = Names(box=["127.0.0.1", "10.0.0.1"])
    async with trap() as server, guarded_client(Guard(allowed_hosts("box.test"), resolve=names)) as client:
        url = f"http://box.test:{server.port}/v1"
        answer = await client.get(url)
    assert answer.text == "ok"
    assert str(answer.request.url) == url
    assert names.asked == ["box.test"]
    assert f"\r\nHost: box.test:{server.port}\r\n".lower() in server.heads[0].lower()


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    # Nobody listens at the first one: the trap is at 127.0.0.1 alone.
    names = Names(box=["127.77.0.1 127.0.0.1"])
    async with trap() as server, guarded_client(Guard(allowed_hosts("box.test"), resolve=names)) as client:
        assert (await client.post(f"http://box.test:{server.port}/", content=b"x")).text == "ok"


async def test_a_name_that_is_not_there_or_takes_too_long_cannot_be_reached() -> None:
    async def nothing(host: str, port: int) -> Sequence[IPAddress]:
        raise OSError("no such name")

    async def never(host: str, port: int) -> Sequence[IPAddress]:
        await asyncio.Event().wait()
        raise AssertionError

    async with guarded_client(Guard(resolve=nothing)) as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://none.test/")
    async with guarded_client(Guard(resolve=never), timeout=0.01) as client:
        with pytest.raises(httpx2.ConnectTimeout):
            await client.get("http://slow.test/")


async def test_the_system_resolves_names_when_nothing_else_is_given() -> None:
    async with trap() as server:
        async with guarded_client(Guard(allowed_hosts(f"localhost:{server.port}"))) as client:
            assert (await client.get(f"http://localhost:{server.port}/")).text == "ok"
        async with guarded_client(Guard(allowed_hosts("localhost:1"))) as client:
            with pytest.raises(AddressRefused):
                await client.get(f"http://localhost:{server.port}/")
    assert server.connects == 1


def test_the_operator_allows_hosts_by_name_with_or_without_a_port() -> None:
    guard = Guard(allowed_hosts(" 127.0.0.1:80, [::1],LOCALHOST ,, h:11434"))
    for url in ("http://127.0.0.1/v1", "http://[::1]:7/", "http://[0:0::1]/"):
        guard.check(url)
    for url in ("http://127.0.0.1:81/", "http://127.0.0.2/", "http://[::2]/", "http://10.0.0.1/"):
        with pytest.raises(AddressRefused, match="STEMMA_ALLOW_HOSTS"):
            guard.check(url)


@pytest.mark.parametrize("setting", ["http://h", "h/v1", "a@h", "h:0", "127.1", "*", "10.0.0.0/8", "h?x"])
def test_an_entry_that_is_no_host_is_refused_at_the_start(setting: str) -> None:
    with pytest.raises(ValueError, match=r"is not a host|must|has a port"):
        allowed_hosts(setting)
