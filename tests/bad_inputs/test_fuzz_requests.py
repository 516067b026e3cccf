"""The fuzz target of requests for a moment; `make fuzz` runs it for a minute."""

import random

import grpc
import pytest

from kernel.rpc.server import MAX_RECEIVED_BYTES
from tests.bad_inputs import fuzz
from tests.bad_inputs.mutate import Field, fields, joined, mutated
from tests.rpc.plumbing import Answer
from tests.support.client import request_for, user


async def test_damaged_requests_are_refused_or_answered() -> None:
    told = await fuzz.run(seconds=2.0)
    assert told["INVALID_ARGUMENT"] > 0
    assert told["OK"] > 0


def test_the_parts_of_a_message_make_it_again() -> None:
    raw = request_for("AppendFloor", session_id="s", on_pending=2, input=[user("x")] * 3).SerializeToString()
    assert joined(fields(raw)) == raw
    assert Field(5, 0, 2) in fields(raw)
    assert len({mutated(random.Random(seed), raw) for seed in range(200)}) > 150


@pytest.mark.parametrize("code", ["UNKNOWN", "INTERNAL", "DEADLINE_EXCEEDED"])
def test_a_planted_fault_is_found(code: str) -> None:
    with pytest.raises(AssertionError, match="AppendFloor for "):
        fuzz.judge("AppendFloor", b"planted", Answer(grpc.StatusCode[code]))


def test_only_what_is_far_too_large_may_be_refused_without_details() -> None:
    bare = Answer(grpc.StatusCode.RESOURCE_EXHAUSTED)
    fuzz.judge("ImportSessions", bytes(MAX_RECEIVED_BYTES + 1), bare)
    with pytest.raises(AssertionError, match="no status details"):
        fuzz.judge("ImportSessions", bytes(MAX_RECEIVED_BYTES), bare)
    with pytest.raises(AssertionError, match="ImportSessions for "):
        fuzz.judge("ImportSessions", bytes(MAX_RECEIVED_BYTES + 1), Answer(grpc.StatusCode.OK))
