"""Whatever comes in, the gateway answers with a message or a Refusal, and never with another exception."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.json_format import ParseDict
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stemma.conversation.v1.floor_service_pb2 import AppendFloorRequest
from stemma.conversation.v1.run_service_pb2 import RespondRequest
from stemma.conversation.v1.session_service_pb2 import CreateSessionRequest

from gateway.checks import check_message, map_entry
from gateway.errors import Refusal
from gateway.query import query_object, split_query
from gateway.routes import Table
from gateway.services import bindings
from gateway.strict_json import parse_object

KINDS = [AppendFloorRequest, RespondRequest, CreateSessionRequest]
TABLE = Table(bindings())


def names(descriptor: Any, seen: set[str]) -> set[str]:
    """Every field name below a message, in both spellings."""
    found: set[str] = set()
    if descriptor.full_name not in seen:
        seen.add(descriptor.full_name)
        for field in descriptor.fields:
            found |= {field.name, field.json_name}
            found |= names(field.message_type, seen) if field.message_type else set()
    return found


NAMES = sorted(set().union(*(names(kind.DESCRIPTOR, set()) for kind in KINDS)))
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "aGk=", "ROLE_USER", "SLOT_INPUT", "12", "-1", "\x00", "x"]),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=12,
)


BY_TYPE = {
    FieldDescriptor.CPPTYPE_STRING: st.sampled_from(["", "aGk=", "x"]),
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(0, 1),
    FieldDescriptor.CPPTYPE_INT32: st.integers(0, 9),
    FieldDescriptor.CPPTYPE_INT64: st.sampled_from([0, "7", str(2**63 - 1)]),
}


def well_formed(descriptor: Any, depth: int = 0) -> st.SearchStrategy[Any]:
    """Objects that are nearly messages of this type: now and then a value is anything."""
    fields = {field.json_name: value_of(field, depth) for field in descriptor.fields}
    return st.fixed_dictionaries({}, optional=fields)


def value_of(field: Any, depth: int) -> st.SearchStrategy[Any]:
    entry = map_entry(field)
    if entry is not None:
        good: st.SearchStrategy[Any] = st.dictionaries(st.text(max_size=3), st.just("x"), max_size=2)
    elif field.message_type is not None:
        good = st.just({}) if depth > 2 else well_formed(field.message_type, depth + 1)
    elif field.enum_type is not None:
        good = st.sampled_from([one.name for one in field.enum_type.values])
    else:
        good = BY_TYPE[field.cpp_type]
    if field.is_repeated and entry is None:
        good = st.lists(good, max_size=2)
    return st.one_of(*[good] * 19, VALUES)


def unless_refused(work: Callable[[], Any], *statuses: int) -> Any:
    """What the work returns; None when it refuses with one of these."""
    try:
        return work()
    except Refusal as refusal:
        if refusal.http not in statuses:
            raise
        return None


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.DESCRIPTOR.name)
def test_what_the_checks_let_through_json_format_takes(kind: Any) -> None:
    taken = 0

    @settings(max_examples=200, deadline=None)
    @given(st.one_of(well_formed(kind.DESCRIPTOR), VALUES))
    @example({})
    def check(value: Any) -> None:
        nonlocal taken
        if not check_message(kind.DESCRIPTOR, value):
            ParseDict(value, kind())
            taken += 1

    check()
    assert taken > 1  # more than the example


BODIES = st.text('{}[]",:0123456789eE.-\\untrfalsNI ', max_size=40).map(str.encode)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=40), BODIES))
def test_any_body_is_an_object_or_refused(body: bytes) -> None:
    value = unless_refused(lambda: parse_object(body), 400)
    if value is not None:
        assert value == (json.loads(body) if body else {})


@settings(max_examples=300, deadline=None)
@given(st.text("/v1:sessionflr%2eE.{}_~ ", max_size=40), st.sampled_from(["GET", "POST", "DELETE", "X"]))
def test_any_path_is_matched_or_refused(path: str, method: str) -> None:
    for prefix in ("", "/v1/sessions/", "/v1/floors/"):
        raw = (prefix + path).encode()
        found = unless_refused(lambda raw=raw: TABLE.match(method, raw), 400, 404, 405)
        if found is not None:
            assert not any(set(value) & set("/:") for value in found[1].values())


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*NAMES, "config.model.seed", "a.b", "."]), st.text(max_size=5))))
def test_any_query_is_an_object_or_refused(pairs: list[tuple[str, str]]) -> None:
    for kind in KINDS:
        fields = unless_refused(lambda kind=kind: query_object(kind.DESCRIPTOR, pairs), 400)
        if fields is not None and not check_message(kind.DESCRIPTOR, fields):
            ParseDict(fields, kind())


@settings(max_examples=200, deadline=None)
@given(st.text("ab=&%2f+;é", max_size=20))
def test_any_query_string_is_split_or_refused(text: str) -> None:
    pairs = unless_refused(lambda: split_query(text.encode()), 400)
    if pairs is not None:
        assert len(pairs) == (text.count("&") + 1 if text else 0)
