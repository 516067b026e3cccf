"""RFC 6902 on values: the examples of its appendix, and where Python would be too kind."""

import json
from typing import Any

import pytest

from kernel.prompt.json_patch import BadPatch, DoesNotApply, applied, changes, operations, pointer_text, same

# (document, operations, result), after the RFC's appendix A.
APPLY: list[tuple[Any, list[dict[str, Any]], Any]] = [
    ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    ({"foo": ["bar", "baz"]}, [{"op": "add", "path": "/foo/1", "value": "x"}], {"foo": ["bar", "x", "baz"]}),
    ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc"]}], {"foo": ["bar", ["abc"]]}),
    ({"baz": 1, "foo": 2}, [{"op": "remove", "path": "/baz"}], {"foo": 2}),
    ({"foo": ["a", "b", "c"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["a", "c"]}),
    ({"baz": 1}, [{"op": "replace", "path": "/baz", "value": "boo"}], {"baz": "boo"}),
    (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    (
        {"foo": ["a", "b", "c"]},
        [{"op": "move", "from": "/foo/0", "path": "/foo/2"}],
        {"foo": ["b", "c", "a"]},
    ),
    ({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/c"}], {"a": {"b": 1}, "c": {"b": 1}}),
    ({"foo": 1}, [{"op": "add", "path": "/foo", "value": None}], {"foo": None}),
    ({"foo": 1}, [{"op": "add", "path": "", "value": [1]}], [1]),
    ({"a/b": 1, "m~n": 2}, [{"op": "remove", "path": "/a~1b"}, {"op": "remove", "path": "/m~0n"}], {}),
    ({"~1": 1}, [{"op": "test", "path": "/~01", "value": 1}], {"~1": 1}),
    ({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0, "more": "is ignored"}], {"a": 1}),
    ({"a": 9007199254740993}, [{"op": "copy", "from": "/a", "path": "/b"}], {"a": 2**53 + 1, "b": 2**53 + 1}),
    ({"a": 1}, [{"op": "move", "from": "/a", "path": "/a"}], {"a": 1}),
]
# (document, operation): its place is not there, or the value is another.
NOT: list[tuple[Any, dict[str, Any]]] = [
    ({"foo": "bar"}, {"op": "add", "path": "/baz/bat", "value": 1}),
    ({"foo": "bar"}, {"op": "remove", "path": "/baz"}),
    ({"foo": "bar"}, {"op": "replace", "path": "/baz", "value": 1}),
    ({"foo": "bar"}, {"op": "copy", "from": "/baz", "path": "/x"}),
    ({"foo": [1]}, {"op": "add", "path": "/foo/2", "value": 1}),
    ({"foo": [1]}, {"op": "add", "path": "/foo/01", "value": 1}),
    ({"foo": [1]}, {"op": "add", "path": "/foo/-1", "value": 1}),
    ({"foo": [1]}, {"op": "remove", "path": "/foo/-"}),
    ({"foo": [1]}, {"op": "remove", "path": "/foo/1"}),
    ({"foo": [1]}, {"op": "remove", "path": "/foo/1e0"}),
    ({"foo": [1]}, {"op": "remove", "path": f"/foo/{'9' * 5_000}"}),
    ({"foo": "bar"}, {"op": "test", "path": "/foo/0", "value": "b"}),
    ({"foo": 1}, {"op": "test", "path": "/foo", "value": True}),
    ({"foo": 0}, {"op": "test", "path": "/foo", "value": False}),
    ({"foo": None}, {"op": "test", "path": "/foo", "value": 0}),
    ({"foo": "10"}, {"op": "test", "path": "/foo", "value": 10}),
    ({"foo": [1, 2]}, {"op": "test", "path": "/foo", "value": [2, 1]}),
    ({"foo": [1]}, {"op": "test", "path": "/foo", "value": {"0": 1}}),
]
NO_PATCH = [
    "",
    "{}",
    "[]",
    "[1]",
    "[{}]",
    '[{"op": "spam", "path": "/a"}]',
    '[{"op": ["add"], "path": "/a", "value": 1}]',
    '[{"op": "add", "path": "a", "value": 1}]',
    '[{"op": "add", "path": 1, "value": 1}]',
    '[{"op": "add", "path": "/a"}]',
    '[{"op": "add", "value": 1}]',
    '[{"op": "move", "path": "/a"}]',
    '[{"op": "move", "from": "/a", "path": "/a/b"}]',
    '[{"op": "add", "op": "remove", "path": "/a", "value": 1}]',
    '[{"op": "add", "path": "/a", "value": NaN}]',
    '[{"op": "add", "path": "/a", "value": ' + "[" * 40 + "]" * 40 + "}]",
    json.dumps([{"op": "remove", "path": "/a"}] * 257),
    json.dumps([{"op": "add", "path": "/a", "value": "x" * 256 * 1024}]),
]


@pytest.mark.parametrize(("document", "patch", "result"), APPLY)
def test_what_applies(document: Any, patch: list[dict[str, Any]], result: Any) -> None:
    before = json.dumps(document)
    assert same(applied(document, operations(json.dumps(patch))), result)
    assert json.dumps(document) == before, "the given document stays"


@pytest.mark.parametrize(("document", "operation"), NOT)
def test_what_does_not(document: Any, operation: dict[str, Any]) -> None:
    patch = operations(json.dumps([{"op": "test", "path": "/foo", "value": document["foo"]}, operation]))
    with pytest.raises(DoesNotApply) as caught:
        applied(document, patch)
    assert caught.value.index == 1


@pytest.mark.parametrize("text", NO_PATCH)
def test_what_is_no_patch(text: str) -> None:
    with pytest.raises(BadPatch):
        operations(text)


def test_values_of_a_patch_are_not_shared() -> None:
    value: dict[str, Any] = {"list": []}
    patch = operations(json.dumps([{"op": "add", "path": "/a", "value": value}]))
    first = applied({}, patch)
    first["a"]["list"].append(1)
    assert applied({}, patch) == {"a": {"list": []}}


def test_changes_go_into_objects_and_tell_lists_whole() -> None:
    before = {"a": {"b": 1, "c": [1]}, "gone": {"x": {"y": 1}}, "same": 1, "none": []}
    after = {"a": {"b": 1.0, "c": [1, 2]}, "same": 1, "new": {"z": "w"}, "empty": {}}
    found = [(pointer_text(path), old, new) for path, old, new in changes(before, after)]
    assert found == [("/a/c", "[1]", "[1,2]"), ("/gone/x/y", "1", ""), ("/new/z", "", '"w"')]
