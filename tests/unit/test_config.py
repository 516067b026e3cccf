"""Layers of configuration: what one says stands, what it is silent about comes from below."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.prompt.config import BudgetConfig, Config, ModelConfig
from kernel.prompt.tokens import estimate

MODELS = st.builds(
    ModelConfig,
    provider=st.sampled_from([None, "", "scripted"]),
    temperature=st.sampled_from([None, 0.0, 1.5]),
    stop=st.sampled_from([(), ("a",), ("b", "c")]),
    seed=st.sampled_from([None, 0, 7]),
)
BUDGETS = st.builds(
    BudgetConfig,
    max_input_tokens=st.sampled_from([None, 1, 100]),
    reserved_output_tokens=st.sampled_from([None, 0, 5]),
)
CONFIGS = st.builds(Config, st.sampled_from([None, "", "be brief"]), MODELS, BUDGETS)


def test_presence_decides_not_truth() -> None:
    """Zero and the empty text are values; only None, and an empty list, say nothing."""
    below = Config("hello", ModelConfig("a", "b", 1.0, 0.5, 10, ("x",), 3), BudgetConfig(100, 5))
    above = Config("", ModelConfig(name="", temperature=0.0, seed=0), BudgetConfig(None, 0))
    assert above.over(below) == Config(
        "", ModelConfig("a", "", 0.0, 0.5, 10, ("x",), 0), BudgetConfig(100, 0)
    )


def test_a_list_replaces_the_whole_list() -> None:
    assert ModelConfig(stop=("a",)).over(ModelConfig(stop=("b", "c"))).stop == ("a",)
    assert ModelConfig(stop=()).over(ModelConfig(stop=("b", "c"))).stop == ("b", "c")


@pytest.mark.parametrize("kind", [ModelConfig, BudgetConfig])
def test_every_field_is_laid_over(kind: type[ModelConfig] | type[BudgetConfig]) -> None:
    for field in fields(kind):
        value = ("t",) if field.name == "stop" else 1
        layer = kind(**{field.name: value})
        assert layer.over(kind()) == layer == kind().over(layer)


@given(CONFIGS, CONFIGS, CONFIGS)
def test_layers_join_in_any_grouping(session: Config, call: Config, other: Config) -> None:
    assert other.over(call.over(session)) == other.over(call).over(session)
    assert Config().over(session) == session == session.over(Config())
    assert session.over(session) == session


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("é" * 4, 2),
        ("日本", 2),
        ("👩‍🚀", 3),
        ("x" * 4_000, 1_000),
    ],
)
def test_an_estimate_is_a_quarter_of_the_bytes(text: str, tokens: int) -> None:
    assert estimate(text) == tokens
