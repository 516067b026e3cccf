"""12: more metadata than a server takes. Refused by gRPC itself, before any code of ours sees the call."""

import pytest

from tests.bad_inputs.world import ON_SQLITE_ONLY, World

pytestmark = [pytest.mark.asyncio(loop_scope="session"), ON_SQLITE_ONLY]

LARGE = {
    "one value": (("x-much", "y" * 17_000),),
    "many values": tuple((f"x-much-{number}", "y" * 400) for number in range(43)),
    "a binary value": (("x-much-bin", bytes(17_000)),),
    "a credential": (("authorization", "Bearer " + "y" * 17_000),),
}


@pytest.mark.parametrize("metadata", LARGE.values(), ids=LARGE.keys())
@pytest.mark.parametrize("name", ["GetSession", "AppendFloor", "Respond"])
async def test_bad_input_12(world: World, name: str, metadata: tuple[tuple[str, str | bytes], ...]) -> None:
    """17 KB, however it is made up: RESOURCE_EXHAUSTED, nothing written, and the connection goes on."""
    answer = await world.ask(name, world.sample(name), metadata=metadata)
    assert answer.code.name == "RESOURCE_EXHAUSTED", answer
    assert answer.messages == ()
    assert "yyyy" not in answer.text
    assert (await world.ask("GetSession", world.sample("GetSession"))).code.name == "OK"
