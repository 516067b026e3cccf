"""Configuration between the contract and the kernel: presence is kept, nonsense is refused by field."""

import pytest
from hypothesis import given
from stemma.kernel.v1 import config_pb2 as pb

from kernel.errors import Invalid
from kernel.prompt.config import BudgetConfig, Config, ModelConfig
from kernel.wire.config import MAX_SYSTEM_PROMPT, config, config_pb
from tests.unit.test_config import CONFIGS


@given(CONFIGS)
def test_a_configuration_comes_back_as_it_was(known: Config) -> None:
    assert config(config_pb(known), "config") == known


def test_zero_and_unset_are_told_apart() -> None:
    assert config(pb.Config(), "config") == Config()
    sent = pb.Config(
        system_prompt="", model={"temperature": 0, "seed": 0}, budget={"reserved_output_tokens": 0}
    )
    known = config(sent, "config")
    assert known == Config("", ModelConfig(temperature=0.0, seed=0), BudgetConfig(None, 0))
    assert config_pb(known) == sent


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"system_prompt": "x" * (MAX_SYSTEM_PROMPT + 1)}, "system_prompt"),
        ({"system_prompt": "é" * (MAX_SYSTEM_PROMPT // 2 + 1)}, "system_prompt"),
        ({"system_prompt": "a\0b"}, "system_prompt"),
        ({"system_prompt": "Hello {{#if name}}you"}, "system_prompt"),
        ({"budget": {"max_memory_tokens": -1}}, "budget.max_memory_tokens"),
        ({"model": {"name": "x" * 201}}, "model.name"),
        ({"model": {"name": "\0"}}, "model.name"),
        ({"model": {"temperature": -0.1}}, "model.temperature"),
        ({"model": {"temperature": 2.1}}, "model.temperature"),
        ({"model": {"temperature": float("nan")}}, "model.temperature"),
        ({"model": {"temperature": float("inf")}}, "model.temperature"),
        ({"model": {"top_p": 0}}, "model.top_p"),
        ({"model": {"top_p": float("nan")}}, "model.top_p"),
        ({"model": {"max_output_tokens": 0}}, "model.max_output_tokens"),
        ({"model": {"stop": ["x"] * 17}}, "model.stop"),
        ({"model": {"stop": [""]}}, "model.stop"),
        ({"model": {"stop": ["x" * 201]}}, "model.stop"),
        ({"budget": {"max_input_tokens": 0}}, "budget.max_input_tokens"),
        ({"budget": {"reserved_output_tokens": -1}}, "budget.reserved_output_tokens"),
    ],
)
def test_values_out_of_their_range_are_named(sent: dict[str, object], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        config(pb.Config(**sent), "config")
    assert [violation.field for violation in caught.value.violations] == [f"config.{field}"]


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(Invalid) as caught:
        config(pb.Config(system_prompt="\0", budget={"max_input_tokens": -1}), "overrides")
    fields = [violation.field for violation in caught.value.violations]
    assert fields == ["overrides.system_prompt", "overrides.budget.max_input_tokens"]
