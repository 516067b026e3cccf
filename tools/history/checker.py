"""Judges a history by what is there in the end, in linear time."""

from __future__ import annotations

from collections.abc import Iterable

from tools.history import effects, feeds, heads, repeats, trees
from tools.history.evidence import Evidence
from tools.history.model import Dump, Operation, Verdict


def check(history: Iterable[Operation], dump: Dump) -> Verdict:
    """T1, T3, T9, R1, R2, R3 and C3 over everything that was asked and all that is there.

    The history in any order, each call once; the dump taken when nothing was under way any more. Raises
    ValueError for a method that the clients of `tools.history` never call: there is no rule for it.
    """
    evidence = Evidence(history, dump)
    for rule in (repeats, effects, heads, trees, feeds):
        rule.judge(evidence)
    calls = [call for ask in evidence.every_ask() for call in ask.calls]
    acknowledged = sum(call.acknowledged for call in calls)
    refused = sum(call.refused for call in calls)
    happened = sum(
        ask.row is not None
        for ask in evidence.every_ask()
        for call in ask.calls
        if not call.acknowledged and not call.refused
    )
    return Verdict(
        tuple(sorted(evidence.violations, key=lambda violation: violation.at)),
        acknowledged,
        refused,
        len(calls) - acknowledged - refused,
        happened,
        len(evidence.lost),
    )
