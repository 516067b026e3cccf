"""Blobs: framed, split, and never anything but ValueError for what is none."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stemma.kernel.v1 import message_pb2 as pb

from kernel.tree.blob import TAG, frame, split

BYTES = st.binary(max_size=40)
# Bytes that look like blobs far more often than chance has it.
BLOBLIKE = st.lists(
    st.one_of(
        BYTES,
        BYTES.map(frame),
        st.just(TAG),
        st.integers(0, 2**70).map(lambda n: TAG + n.to_bytes(9, "little")),
    ),
    max_size=6,
).map(b"".join)


@given(st.lists(BYTES, max_size=8))
def test_split_gives_back_what_was_framed(messages: list[bytes]) -> None:
    frames = [frame(message) for message in messages]
    assert split(b"".join(frames)) == frames


@pytest.mark.parametrize("length", [0, 1, 127, 128, 129, 16_383, 16_384, 2**20, 2**21])
def test_lengths_at_the_edges_of_their_bytes(length: int) -> None:
    whole = frame(b"x" * length)
    assert split(whole + frame(b"")) == [whole, frame(b"")]
    # Only the part before the message differs from one length to another: a tag, and seven bits a byte.
    assert len(whole) - length == 1 + max(1, -(-length.bit_length() // 7))


def test_a_blob_is_the_wire_encoding_of_a_list() -> None:
    messages = [pb.Message(role=2, name=name) for name in ("", "a" * 200)]
    blob = b"".join(frame(message.SerializeToString()) for message in messages)
    assert blob == pb.MessageList(messages=messages).SerializeToString()


@given(st.lists(BYTES, min_size=1, max_size=4), st.data())
def test_what_is_cut_off_is_refused(messages: list[bytes], data: st.DataObject) -> None:
    frames = [frame(message) for message in messages]
    borders = {sum(len(one) for one in frames[:count]) for count in range(len(frames) + 1)}
    blob = b"".join(frames)
    cut = data.draw(st.integers(0, len(blob)))
    if cut in borders:
        assert b"".join(split(blob[:cut])) == blob[:cut]
    else:
        with pytest.raises(ValueError, match="cut off"):
            split(blob[:cut])


@settings(max_examples=400)
@given(BLOBLIKE)
@example(b"\x0a")
@example(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")
@example(b"\x0a\x80\x00")
@example(b"\x12\x01a")
@example(b"\x0a\x01")
def test_garbage_splits_without_loss_or_is_refused(blob: bytes) -> None:
    try:
        frames = split(blob)
    except ValueError:
        return
    assert b"".join(frames) == blob
    assert all(one.startswith(TAG) for one in frames)


def test_an_endless_length_is_refused_at_once() -> None:
    """A length is at most five bytes: a blob of continuation bytes must not cost its square."""
    with pytest.raises(ValueError, match="too long"):
        split(TAG + b"\x80" * 1_000_000)
