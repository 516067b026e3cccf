"""Numbers, positions and times of paths against the generated classes. Floors: `test_path_rows.py` of the
conformance suite compares them, row by row, with `floor_bytes`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stemma.conversation.v1 import floor_service_pb2
from stemma.kernel.v1 import floor_pb2

from kernel.tree.model import Position
from kernel.wire.byte_text import BYTES, number
from kernel.wire.floor_bytes import delimited, position_bytes, tags, varint
from kernel.wire.path_bytes import Alone, Stamps

TAGS = tags(floor_service_pb2.ListPathResponse.DESCRIPTOR)


@given(st.one_of(st.integers(0, 2**15), st.integers(2**27, 2**29), st.integers(0, 2**63)))
def test_numbers_are_varints(value: int) -> None:
    assert number(value).encode(BYTES) == varint(value)


@given(st.uuids().map(str))
@pytest.mark.parametrize("has_input", [False, True])
@pytest.mark.parametrize("has_output", [False, True])
def test_the_position_of_a_floor_that_is_alone(has_input: bool, has_output: bool, floor_id: str) -> None:
    raw = Alone(TAGS["positions"]).position(floor_id, has_input, has_output)
    (found,) = floor_service_pb2.ListPathResponse.FromString(raw).positions
    one, other = int(has_input), int(has_output)
    assert found == floor_pb2.Position(
        floor_id=floor_id, input_index=one, input_count=one, output_index=other, output_count=other
    )
    assert raw == delimited(TAGS["positions"], position_bytes(Position(floor_id, one, one, other, other)))


@given(
    st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=8),
    st.sampled_from([0, 946_684_800]),
)
def test_times_of_whatever_seconds(times: list[int], epoch: int) -> None:
    for time, stamp in zip(times, Stamps(epoch)(tuple(times)), strict=True):
        raw = stamp.encode(BYTES)
        found = floor_pb2.Floor.FromString(tags(floor_pb2.Floor.DESCRIPTOR)["create_time"] + raw).create_time
        assert found.seconds * 1_000_000 + found.nanos // 1_000 == time + epoch * 1_000_000
        assert 0 <= found.nanos < 10**9
