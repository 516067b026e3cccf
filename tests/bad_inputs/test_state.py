"""Values and keys of state that no write takes: 29, 30, 32, 40, and limits. Others are in `tests/state`."""

from typing import Any

import pytest

from tests.bad_inputs.world import World, invalid, refused
from tests.rpc.plumbing import Answer

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def append(world: World, effects: dict[str, Any]) -> Answer:
    return await world.ask("AppendFloor", world.sample("AppendFloor", effects=effects))


async def write(world: World, **variable: Any) -> Answer:
    return await world.ask("WriteState", world.sample("WriteState", variables=[variable]))


async def everywhere(world: World, text: str, why: str = "value_json") -> None:
    """A value that no write takes."""
    one = {"key": "k", "value_json": text}
    invalid(await append(world, {"variables": [one]}), f"effects.variables[0].{why}")
    slot = {"namespace": "n", "slot": "s", "value_json": text}
    invalid(await append(world, {"slots": [slot]}), f"effects.slots[0].{why}")
    invalid(await write(world, **one), f"variables[0].{why}")


async def test_bad_input_29_a_value_of_33_levels(world: World) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        await everywhere(world, opening * 33 + "1" + closing * 33)
    await everywhere(world, "[" * 60_000)


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', "NaN", "[Infinity]", "1e999", "9" * 5_000, "", "{", "1 2", "'a'", "\ufeff1"]
)
async def test_bad_input_30_what_is_no_exact_json(world: World, text: str) -> None:
    await everywhere(world, text)


async def test_bad_input_32_nul_and_half_a_surrogate(world: World) -> None:
    await everywhere(world, '"\\u0000"')
    await everywhere(world, '{"\\ud800":1}')
    for key in ("a\0b", "\0"):
        invalid(await write(world, key=key, value_json="1"), "variables[0].key")
    fact = {"op": 1, "kind": 1, "text": "a\0b"}
    invalid(await append(world, {"memory": [fact]}), "effects.memory[0].text")


async def test_bad_input_40_numbers_beyond_their_range(world: World) -> None:
    fact = {"op": 1, "kind": 1, "text": "x"}
    for name in ("importance", "confidence"):
        for number in (-0.001, 1.001, float("nan"), float("inf")):
            answer = await append(world, {"memory": [{**fact, name: number}]})
            invalid(answer, f"effects.memory[0].{name}")
    request = world.sample("WriteState", expected_version=-1)
    invalid(await world.ask("WriteState", request), "expected_version")
    request = world.sample("WriteState", expected_version=2**62)
    refused(await world.ask("WriteState", request), "ABORTED", "VERSION_MOVED")


@pytest.mark.parametrize(
    ("effects", "field"),
    [
        ({"variables": [{"value_json": "1"}]}, "variables[0].key"),
        ({"variables": [{"key": "x" * 129, "value_json": "1"}]}, "variables[0].key"),
        ({"variables": [{"key": "k", "value_json": "1", "delete": True}]}, "variables[0].value_json"),
        ({"variables": [{"key": "k", "value_json": f'"{"x" * 65_536}"'}]}, "variables[0].value_json"),
        ({"slots": [{"slot": "s", "value_json": "1"}]}, "slots[0].namespace"),
        ({"memory": [{"op": 1, "text": "x"}]}, "memory[0].kind"),
        ({"memory": [{"kind": 1, "text": "x"}]}, "memory[0].op"),
        ({"memory": [{"op": 1, "kind": 1}]}, "memory[0].text"),
        ({"memory": [{"op": 1, "kind": 1, "text": "x" * 16_385}]}, "memory[0].text"),
        ({"memory": [{"op": 1, "kind": 2, "text": "x", "fact_key": "k"}]}, "memory[0].fact_key"),
        ({"memory": [{"op": 1, "kind": 1, "text": "x", "memory_id": "x"}]}, "memory[0].memory_id"),
        ({"memory": [{"op": 2, "text": "x"}]}, "memory[0].memory_id"),
        ({"memory": [{"op": 3, "memory_id": "no uuid"}]}, "memory[0].memory_id"),
        (
            {"memory": [{"op": 1, "kind": 2, "text": "x", "covers_floor_id": "x"}]},
            "memory[0].covers_floor_id",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_effects_that_are_none(world: World, effects: dict[str, Any], field: str) -> None:
    invalid(await append(world, effects), f"effects.{field}")


async def test_effects_have_a_size(world: World) -> None:
    many = [{"key": f"k{n}", "value_json": "1"} for n in range(257)]
    invalid(await append(world, {"variables": many}), "effects")
    wide = [{"key": f"k{n}", "value_json": f'"{"x" * 60_000}"'} for n in range(5)]
    invalid(await append(world, {"variables": wide}), "effects")
    invalid(await world.ask("WriteState", world.sample("WriteState", variables=many)), "variables")
    invalid(await world.ask("WriteState", world.sample("WriteState", variables=wide)), "variables")
    invalid(await world.ask("WriteState", world.sample("WriteState", variables=[])), "variables")


async def test_effects_stand_with_an_output_of_their_own(world: World) -> None:
    effects = {"variables": [{"key": "k", "value_json": "1"}]}
    for name, fields in {
        "AddPage": {"slot": 1},
        "EditFloor": {"output": []},
        "RegenerateFloor": {"output": []},
    }.items():
        request = world.sample(name, effects=effects, **fields)
        invalid(await world.ask(name, request), "effects")


async def test_a_state_is_of_one_place(world: World) -> None:
    places = world.places
    for name, fields, field in (
        ("GetState", {"session_id": ""}, "session_id"),
        ("GetState", {"project_id": places.project}, "session_id"),
        ("GetState", {"branch": "main", "floor_id": places.first}, "floor_id"),
        ("ListMemory", {"branch": "main", "floor_id": places.first}, "floor_id"),
        ("WriteState", {"project_id": places.project}, "session_id"),
        ("WriteState", {"variables": [{"scope": 1, "key": "k", "value_json": "1"}]}, "variables[0].scope"),
        ("WriteState", {"variables": [{"scope": 3, "key": "k", "value_json": "1"}]}, "variables[0].scope"),
    ):
        invalid(await world.ask(name, world.sample(name, **fields)), field)
    request = world.sample("GetState", floor_id=places.other_floor)
    refused(await world.ask("GetState", request), "NOT_FOUND", "NOT_FOUND")
    request = world.sample("GetState", floor_id=places.opened)
    refused(await world.ask("GetState", request), "FAILED_PRECONDITION", "FLOOR_PENDING")
