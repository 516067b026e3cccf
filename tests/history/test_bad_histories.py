"""Each way to break a promise is seen, named by its rule and by the calls concerned, in words."""

from __future__ import annotations

import pytest

from tests.history import bad_effects, bad_order
from tests.history.stories import NoHeadCheck, NoMemory, Story
from tools.history.checker import check

BAD = bad_effects.BAD | bad_order.BAD


def test_the_story_itself_is_good() -> None:
    story = Story()
    verdict = check(story.history, story.dump)
    assert verdict.passed, "\n".join(verdict.lines())
    assert (verdict.acknowledged, verdict.refused, verdict.unknown, verdict.happened) == (9, 2, 2, 1)


@pytest.mark.parametrize("name", BAD)
def test_is_caught(name: str) -> None:
    spoil, rule, operations, words = BAD[name]
    story = Story()
    spoil(story)
    expect(story, rule, operations, words)


def expect(story: Story, rule: str, operations: tuple[int, ...], words: str) -> None:
    """A violation of the rule that names these calls first and says these words."""
    verdict = check(story.history, story.dump)
    found = "\n".join(verdict.lines())
    assert any(
        violation.rule == rule
        and words in violation.text
        and violation.operations[: len(operations)] == operations
        for violation in verdict.violations
    ), found
    assert verdict.first is not None
    if operations:
        # Nothing that was sent before the call to blame is called wrong.
        assert verdict.first.at >= min(story.call(op).invoked for op in operations), found


def test_two_winners_are_caught() -> None:
    """A service that does not look at `expected_head`: 5 wins after 3 has."""
    expect(Story(NoHeadCheck()), "T3", (5, 3), "expected HEAD_MOVED")


def test_a_repeat_with_an_effect_of_its_own_is_caught() -> None:
    """A service that forgot that it had done 3 when 4 repeats it."""
    expect(Story(NoMemory()), "R1", (3, 4), "took effect twice: as the floor floor-2 and as floor-3")


def test_a_gap_is_named_by_its_position() -> None:
    story = Story()
    story.remove("events", lambda event: event.position == 3)
    texts = [violation.text for violation in check(story.history, story.dump).violations]
    assert "the feed project has a gap: there is no event at position 3" in texts


def test_the_first_violation_is_the_one_that_was_sent_first() -> None:
    story = Story()
    story.floor("floor-4", output="else")
    story.floor("floor-2", output="else")
    verdict = check(story.history, story.dump)
    assert verdict.first is not None
    assert verdict.first.operations == (3,)
    assert verdict.lost == 2


@pytest.mark.parametrize("reason", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "INTERNAL", ""])
def test_a_failure_that_says_nothing_may_have_happened(reason: str) -> None:
    story = Story()
    story.retell(11, outcome="fail", reason=reason)
    verdict = check(story.history, story.dump)
    assert verdict.passed, "\n".join(verdict.lines())
    assert (verdict.unknown, verdict.happened) == (2, 1)


def test_a_method_without_a_rule_is_refused() -> None:
    story = Story()
    story.retell(6, method="DeleteSession")
    with pytest.raises(ValueError, match="does not judge DeleteSession"):
        check(story.history, story.dump)
