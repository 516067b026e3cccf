"""R1: the same request id and content, the same answer and one effect; other content is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from tools.history.evidence import Ask, Evidence, Key, named
from tools.history.model import AT_THE_DOOR, Answer, Operation

_REUSED = "REQUEST_ID_REUSED"


def judge(evidence: Evidence) -> None:
    for key, twins in evidence.asks.items():
        asks = list(twins.values())
        _one_content(evidence, key, asks)
        for ask in asks:
            _one_answer(evidence, ask)
        _refusals(evidence, key, asks)


def _one_content(evidence: Evidence, key: Key, asks: list[Ask]) -> None:
    told = sorted_by_return(ask.told for ask in asks)
    for other in told[1:]:
        evidence.broken(
            "R1",
            f"{named(other)} was acknowledged, although {named(told[0])} has the same request_id and other"
            f" content; expected {_REUSED}",
            other,
            told[0],
        )
    row = evidence.rows.get(key)
    if len(told) == 1 and row is not None and row.fingerprint != _fingerprint(asks, told[0]):
        evidence.broken(
            "R1",
            f"{named(told[0])} was acknowledged, but its request_id is recorded with other content",
            *told,
        )


def sorted_by_return(calls: Iterable[Operation | None]) -> list[Operation]:
    return sorted((call for call in calls if call is not None), key=lambda call: call.returned or 0)


def _fingerprint(asks: list[Ask], call: Operation) -> str:
    return next(ask.fingerprint for ask in asks if ask.told is call)


def _one_answer(evidence: Evidence, ask: Ask) -> None:
    for call in ask.calls:
        if call is ask.told or ask.told is None or not call.acknowledged:
            continue
        if call.answer != ask.told.answer:
            evidence.broken(
                "R1",
                f"{named(call)} repeats {named(ask.told)} and was told otherwise:"
                f" {_difference(call.answer, ask.told.answer)}",
                call,
                ask.told,
            )


def _difference(mine: Answer | None, first: Answer | None) -> str:
    for field in fields(Answer):
        left, right = getattr(mine, field.name, None), getattr(first, field.name, None)
        if left != right:
            return f"{field.name} is {left!r}, expected {right!r}"
    return "nothing that is recorded"


def _refusals(evidence: Evidence, key: Key, asks: list[Ask]) -> None:
    """What a refused call of a request id may be told, given who else used it."""
    row = evidence.rows.get(key)
    told = sorted_by_return(ask.told for ask in asks)
    for ask in asks:
        for call in ask.calls:
            if not call.refused or call.reason in AT_THE_DOOR:
                continue
            if call.reason == _REUSED:
                _reused(evidence, ask, call, row is not None and row.fingerprint != ask.fingerprint)
            elif told and call.invoked > (told[0].returned or 0):
                same = ask.told is told[0]
                expected = "the same answer" if same else _REUSED
                evidence.broken(
                    "R1",
                    f"{named(call)} was refused with {call.reason}, although {named(told[0])} had been"
                    f" acknowledged under its request_id; expected {expected}",
                    call,
                    told[0],
                )


def _reused(evidence: Evidence, ask: Ask, call: Operation, right: bool) -> None:
    if right:
        return
    why = "its request_id is recorded with this very content" if ask.row else "nothing else was recorded"
    evidence.broken("R1", f"{named(call)} was refused with {_REUSED}, but {why}", call)
