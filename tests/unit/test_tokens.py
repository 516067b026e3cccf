"""Which counter counts for which model."""

from kernel.prompt.tokens import ESTIMATING, TokenCounters, estimate


class Words:
    def __init__(self, name: str) -> None:
        self.name = name

    def count(self, text: str) -> int:
        return len(text.split())


def test_the_estimate_counts_for_every_model_that_has_no_counter() -> None:
    counters = TokenCounters()
    for model in (None, "", "any"):
        assert counters.of(model) is ESTIMATING
    assert (ESTIMATING.name, ESTIMATING.count("twelve bytes")) == ("estimate", estimate("twelve bytes"))


def test_the_longest_beginning_of_a_models_name_decides() -> None:
    counters, wide, narrow = TokenCounters(), Words("wide"), Words("narrow")
    counters.use("gpt-4o-mini", narrow)
    counters.use("gpt-4o", wide)
    found = [counters.of(model).name for model in ("gpt-4o", "gpt-4o-mini-2", "gpt-4o-2", "gpt-4", None)]
    assert found == ["wide", "narrow", "wide", "estimate", "estimate"]
    assert counters.of("gpt-4o").count("two words") == 2
