"""Hand-written bytes against the generated classes, for whatever a floor may hold."""

from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given
from hypothesis import strategies as st
from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.tree.model import Floor, FloorState, Page, Place, Position, Slot, Usage
from kernel.verbs.answers import Shown
from kernel.wire.codec import page_content
from kernel.wire.floor_bytes import floor_bytes, page_bytes, position_bytes, varint

numbers = st.integers(0, 2**31 - 1)
large = st.integers(0, 2**53)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
ids = st.uuids().map(str)
times = st.integers(-10_000_000_000_000_000, 250_000_000_000_000_000).map(
    lambda us: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=us)
)


@st.composite
def messages(draw: st.DrawFn) -> message_pb2.Message:
    return message_pb2.Message(
        role=draw(st.sampled_from(["ROLE_SYSTEM", "ROLE_USER", "ROLE_ASSISTANT", "ROLE_TOOL"])),
        name=draw(words),
        parts=[message_pb2.Part(text=message_pb2.TextPart(text=draw(words)))],
        hidden=draw(st.booleans()),
        metadata=draw(st.dictionaries(words, words, max_size=2)),
    )


@st.composite
def pages(draw: st.DrawFn, slot: Slot) -> tuple[Page, list[message_pb2.Message]]:
    given = draw(st.lists(messages(), min_size=1, max_size=4))
    content = page_content(given)
    assert content is not None
    source, partial = draw(words), draw(st.booleans())
    page = Page(
        draw(ids), draw(ids), slot, content, draw(digests), draw(numbers), partial, source, draw(times)
    )
    return page, given


digests = st.binary(min_size=32, max_size=32)


def stamp(time: datetime) -> Timestamp:
    result = Timestamp()
    result.FromDatetime(time)
    return result


def expected_page(given: tuple[Page, list[message_pb2.Message]], before: str) -> message_pb2.Page:
    page, stored = given
    result = message_pb2.Page(
        page_id=page.page_id,
        floor_id=page.floor_id,
        slot=message_pb2.Slot.Name(int(page.slot)),
        digest=page.digest.hex(),
        token_count=page.tokens,
        partial=page.partial,
        source=page.source,
        create_time=stamp(page.create_time),
    )
    for index, (message, fact) in enumerate(zip(stored, page.content.facts, strict=True)):
        shown = result.messages.add()
        shown.CopyFrom(message)
        shown.message_id, shown.parent_message_id = f"{page.page_id}.{index}", before
        shown.token_count = fact.tokens
        before = shown.message_id
    return result


@given(page=pages(Slot.OUTPUT), before=words)
def test_a_page(page: Any, before: str) -> None:
    assert message_pb2.Page.FromString(page_bytes(page[0], before)) == expected_page(page, before)
    bare = expected_page(page, before)
    del bare.messages[:]
    assert message_pb2.Page.FromString(page_bytes(page[0], before, bodies=False)) == bare


@given(
    input=st.none() | pages(Slot.INPUT),
    output=st.none() | pages(Slot.OUTPUT),
    state=st.sampled_from(FloorState),
    usage=st.none() | st.builds(Usage, large, large, st.booleans()),
    strings=st.lists(words, min_size=3, max_size=3),
    given_ids=st.lists(ids, min_size=3, max_size=3),
    parent=st.none() | ids,
    digest=st.none() | digests,
    counts=st.lists(numbers, min_size=2, max_size=2),
    tokens=large,
    create=times,
    commit=st.none() | times,
)
def test_a_floor(**fields: Any) -> None:
    floor_id, session_id, run_id = fields["given_ids"]
    before, reason, principal = fields["strings"]
    depth, ordinal = fields["counts"]
    input, output = fields["input"], fields["output"]
    floor = Floor(
        floor_id=floor_id,
        session_id=session_id,
        parent_floor_id=fields["parent"],
        parent_segment=0,
        place=Place(0, depth),
        ordinal=ordinal,
        state=fields["state"],
        input=input and input[0],
        output=output and output[0],
        digest=fields["digest"],
        path_tokens=fields["tokens"],
        usage=fields["usage"],
        run_id=run_id,
        failure_reason=reason,
        principal=principal,
        create_time=fields["create"],
        commit_time=fields["commit"],
        branch="main",
    )
    wanted = floor_pb2.Floor(
        floor_id=floor_id,
        session_id=session_id,
        parent_floor_id=fields["parent"] or "",
        depth=depth,
        ordinal=ordinal,
        state=f"FLOOR_STATE_{floor.state.name}",
        digest=floor.digest.hex() if floor.digest else "",
        path_tokens=floor.path_tokens,
        run_id=run_id,
        failure_reason=reason,
        principal=principal,
        create_time=stamp(floor.create_time),
    )
    if floor.commit_time:
        wanted.commit_time.CopyFrom(stamp(floor.commit_time))
    if usage := floor.usage:
        wanted.usage.CopyFrom(
            floor_pb2.Usage(tokens_in=usage.tokens_in, tokens_out=usage.tokens_out, estimated=usage.estimated)
        )
    last = before
    if input:
        wanted.input_page.CopyFrom(expected_page(input, before))
        last = wanted.input_page.messages[-1].message_id
    if output:
        wanted.output_page.CopyFrom(expected_page(output, last))
    assert floor_pb2.Floor.FromString(floor_bytes(Shown(floor, before))) == wanted


@given(floor_id=ids, counts=st.lists(numbers, min_size=4, max_size=4))
def test_a_position(floor_id: str, counts: list[int]) -> None:
    found = floor_pb2.Position.FromString(position_bytes(Position(floor_id, *counts)))
    assert [found.input_index, found.input_count, found.output_index, found.output_count] == counts
    assert found.floor_id == floor_id


@given(large)
def test_a_number(value: int) -> None:
    assert floor_pb2.Usage.FromString(b"\x08" + varint(value)).tokens_in == value
