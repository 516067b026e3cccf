"""A text's sealed keys under the newest key: the rule alone, without a database."""

import json

import pytest

from kernel.prompt.config import Config, ModelConfig, PipelineConfig, PipelineStage
from kernel.prompt.config_text import config_from_text, config_text
from kernel.runs.plan import Candidate, Plan, plan_from, plan_text
from kernel.sealing import CannotOpen, Seals, resealed_text

OLD, NEW, LOST = bytes([1] * 32), bytes([2] * 32), bytes([3] * 32)
BOTH = Seals([NEW, OLD])


def with_keys(*sealed: str) -> Config:
    first, *rest = [ModelConfig(base_url="https://a.example/v1", api_key=key) for key in sealed]
    stage = PipelineStage(model=rest[0]) if rest else PipelineStage()
    return Config(system_prompt="say s1.x", model=first, pipeline=PipelineConfig(memory=stage))


def test_every_key_is_sealed_anew_and_nothing_else_is_touched() -> None:
    old = Seals([OLD])
    config = with_keys(old.seal("t", "one"), old.seal("t", "two"))
    made = resealed_text(BOTH, "t", config_text(config))
    assert made.changed == 2
    again = config_from_text(made.text)
    only_new = Seals([NEW])
    assert only_new.open("t", again.model.api_key or "") == "one"
    assert only_new.open("t", again.pipeline.memory.model.api_key or "") == "two"
    assert with_keys(again.model.api_key or "", again.pipeline.memory.model.api_key or "") == again
    assert again.system_prompt == config.system_prompt
    assert resealed_text(BOTH, "t", made.text).text == made.text, "what is new already stays as it is"


def test_texts_that_hold_a_configuration_as_text() -> None:
    """Answers and plans of runs, to whatever depth."""
    config = with_keys(Seals([OLD]).seal("t", "one"))
    plan = plan_text(Plan((Candidate("p"),), config, False, 1))
    made = resealed_text(BOTH, "t", plan)
    assert made.changed == 1
    assert Seals([NEW]).open("t", plan_from(made.text).config.model.api_key or "") == "one"
    answer = json.dumps({"session": {"config": config_text(config), "inner": json.dumps({"again": plan})}})
    made = resealed_text(BOTH, "t", answer)
    assert made.changed == 2
    assert resealed_text(Seals([NEW]), "t", made.text).unreadable == 0


@pytest.mark.parametrize(
    ("tenant", "sealed"),
    [
        ("t", Seals([LOST]).seal("t", "x")),
        ("another", Seals([OLD]).seal("t", "x")),
        ("t", "s1." + "A" * 40),
    ],
    ids=["a key that is gone", "another tenant's", "nobody's"],
)
def test_what_no_key_opens_stays_and_is_counted(tenant: str, sealed: str) -> None:
    text = config_text(with_keys(sealed))
    made = resealed_text(BOTH, tenant, text)
    assert (made.text, made.changed, made.unreadable) == (text, 0, 1)


def test_an_old_seal_in_other_places_is_none_of_ours() -> None:
    """Nobody is ever shown one, and what people write is never rewritten, whatever it looks like."""
    for said in (Seals([OLD]).seal("t", "x"), 'say "api_key":"s1.x" and "api_key": "s1.AAAAAAAAAAAA"'):
        text = config_text(Config(system_prompt=said))
        made = resealed_text(BOTH, "t", text)
        assert (made.text, made.changed, made.unreadable) == (text, 0, 0)


def test_the_first_key_seals() -> None:
    assert not Seals([OLD]).several
    assert BOTH.several
    old = Seals([OLD]).seal("t", "x")
    new = BOTH.resealed("t", old)
    assert BOTH.resealed("t", new) == new
    with pytest.raises(CannotOpen):
        Seals([OLD]).open("t", new)
