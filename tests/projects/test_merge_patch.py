"""RFC 7396 on texts: its own examples, an oracle, and that what is not touched stays as it was written."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.prompt.merge_patch import merge_patch, without_nulls

KEYS = st.sampled_from(["a", "b", "c", "é", '"', ""])
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


def oracle(target: Any, patch: Any) -> Any:
    """The RFC's own procedure."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = oracle(merged.get(key), value)
    return merged


@given(OBJECTS, OBJECTS, st.sampled_from([None, 2]))
def test_as_the_rfc_says(target: Any, patch: Any, indent: int | None) -> None:
    merged = merge_patch(json.dumps(target, indent=indent), json.dumps(patch, ensure_ascii=False))
    assert json.loads(merged) == oracle(target, patch)
    assert list(json.loads(merged)) == list(oracle(target, patch))
    assert json.loads(without_nulls(json.dumps(patch))) == oracle({}, patch)


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ('{"a":"b"}', '{"a":"c"}', '{"a":"c"}'),
        ('{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'),
        ('{"a":"b"}', '{"a":null}', "{}"),
        ('{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'),
        ('{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'),
        ('{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'),
        ('{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'),
        ('{"e":null}', '{"a":1}', '{"e":null,"a":1}'),
        ("{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'),
    ],
)
def test_the_examples_of_the_rfc(target: str, patch: str, merged: str) -> None:
    assert merge_patch(target, patch) == merged


def test_what_is_not_touched_is_kept_to_the_letter() -> None:
    target = ' {"z" : 9007199254740993, "a":{"n":1.10, "l":[ 1,2 ],"t":"\\u00e9"} , "e":1e2 } '
    merged = merge_patch(target, '{"a":{"new":0.30000000000000004},"e":-0}')
    assert merged == (
        '{"z":9007199254740993,"a":{"n":1.10,"l":[ 1,2 ],"t":"\\u00e9","new":0.30000000000000004},"e":-0}'
    )
    assert without_nulls(target) == target
