"""`stemma bench`: a short load of a real service, and nothing left of it."""

import pytest
from stemma_cli.loading import Load

from tests.cli.programs import in_process
from tests.cli.talks import documents
from tests.support.client import connect
from tests.support.service import RunningService


def test_rates_and_quantiles() -> None:
    load = Load("call", 2.0, [float(ms) for ms in range(1, 101)])
    assert load.rate == 50.0
    assert [load.quantile(share) for share in (0.0, 0.5, 0.95, 1.0)] == [1.0, 51.0, 96.0, 100.0]
    assert Load("call", 1.0, [7.0]).quantile(0.99) == 7.0


async def test_a_load_prints_a_line_a_call_and_leaves_nothing(service: RunningService) -> None:
    settings = {"STEMMA_CONVERSATION": service.address}
    done = await in_process("bench", "-c", "2", "-s", "0.1", **settings)
    assert (done.code, done.err) == (0, "")
    names = [line.split()[0] for line in done.lines]
    assert names == ["2", "call", "AppendFloor", "ListPath"]
    answers = documents(await in_process("bench", "--callers", "1", "--seconds", "0.1", "--json", **settings))
    assert [answer["call"] for answer in answers] == ["AppendFloor", "ListPath"]
    for answer in answers:
        assert answer["calls"] >= 1
        assert 0 < answer["p50Ms"] <= answer["p95Ms"] <= answer["p99Ms"]
    async with connect(service.address) as client:
        assert (await client.call("ListSessions")).sessions == []


@pytest.mark.parametrize("arguments", [["-c", "0"], ["-s", "0"], ["-c", "257"]])
async def test_a_load_of_nothing_is_refused(arguments: list[str]) -> None:
    assert (await in_process("bench", *arguments)).code == 2
