"""Schemas of arguments: what is one, what does not fit, and that neither can do harm."""

import json
import time
from typing import Any

import pytest

from kernel.tools.schema import argument_schema, schema_fault

OBJECT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def faults(schema: Any, arguments: Any) -> list[str]:
    return argument_schema(json.dumps(schema)).faults(arguments)


def test_what_fits_has_no_faults() -> None:
    assert faults(OBJECT, {"n": 3}) == []
    assert argument_schema("").faults({"anything": [1]}) == []


def test_what_does_not_fit_is_said_with_its_place() -> None:
    (missing,) = faults(OBJECT, {})
    assert "'n' is a required property" in missing
    (wrong,) = faults(OBJECT, {"n": "three"})
    assert wrong.startswith("$.n: ")
    many = {"type": "array", "items": {"type": "string"}}
    assert len(faults(many, list(range(100)))) == 5
    (long,) = faults({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 100_000})
    assert len(long) < 400


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"properties": {"a": {"pattern": "^b+$"}}}, {"a": "bb"}, {"a": "bab"}),
        ({"properties": {"a": {"pattern": "b"}}}, {"a": "abc"}, {"a": "ac"}),
        ({"patternProperties": {"^x": {"type": "integer"}}}, {"x1": 1, "y": ""}, {"x1": ""}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": 1}, {"b": 1}),
        (
            {"patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}},
            {"x": 1, "y": ""},
            {"y": 1},
        ),
        ({"properties": {"a": {"uniqueItems": True}}}, {"a": [1, True, {"b": 1}]}, {"a": [1, 1.0]}),
        ({"$defs": {"n": {"const": 1}}, "properties": {"a": {"$ref": "#/$defs/n"}}}, {"a": 1}, {"a": 0}),
        ({"$ref": "#/definitions/o", "definitions": {"o": {"required": ["a"]}}}, {"a": 0}, {}),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"a": {"items": [{"type": "string"}], "additionalItems": False}},
            },
            {"a": ["x"]},
            {"a": ["x", "y"]},
        ),
    ],
)
def test_keywords(schema: Any, good: Any, bad: Any) -> None:
    assert faults(schema, good) == []
    assert faults(schema, bad) != []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not JSON"),
        ("[]", "must be a JSON object"),
        ('{"type": "nothing"}', "is no JSON Schema: at $.type"),
        ('{"$ref": "https://example.com/schema"}', "another document"),
        ('{"$ref": "other.json#/a"}', "another document"),
        ('{"properties": {"a": {"$dynamicRef": "http://127.0.0.1/"}}}', "another document"),
        ('{"$ref": "#/$defs/missing"}', "has nothing at"),
        ('{"properties": {"a": {"pattern": "(?=a)"}}}', "look-around"),
        ('{"patternProperties": {"(": {}}}', "a pattern that is none"),
        ('{"properties": {"a": {"pattern": "a{1000}{1000}"}}}', "too large"),
        (json.dumps({"properties": {"a": {"pattern": "a" * 501}}}), "500 characters"),
        (json.dumps({"properties": {f"{i}": {"pattern": f"{i}"} for i in range(33)}}), "32 patterns"),
        ('{"patternProperties": {}, "unevaluatedProperties": false}', "not supported"),
        (json.dumps({"description": "x" * 70_000}), "64 KiB"),
    ],
)
def test_what_is_no_schema_is_refused_with_a_reason(text: str, why: str) -> None:
    fault = schema_fault(text)
    assert fault is not None
    assert why in fault
    assert len(fault) < 600


def test_names_of_properties_and_data_are_no_keywords() -> None:
    schema = {"properties": {"$ref": {"type": "string"}, "pattern": {}}, "default": {"$ref": "http://x/"}}
    assert schema_fault(json.dumps(schema)) is None


def test_a_pattern_takes_linear_time() -> None:
    """`(a+)+$` takes a backtracking engine for ever: this returns."""
    schema = {"properties": {"a": {"pattern": "^(a+)+$"}}}
    assert faults(schema, {"a": "a" * 50_000 + "b"}) != []


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        # Twice as much with each step.
        {
            "$defs": {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
            | {"d40": {"type": "string"}},
            "$ref": "#/$defs/d0",
        },
        # Each of many looks at, and quotes, all of it.
        {"anyOf": [{"type": "string", "minLength": i} for i in range(1_000)]},
    ],
)
def test_checking_ends(schema: Any) -> None:
    """Whatever the schema: a check is a bounded number of steps, and what exceeds it does not fit."""
    begun = time.process_time()
    assert faults(schema, {"a": ["x" * 100] * 8_000})
    # The steps are what bounds it; this only tells bounded from endless.
    assert time.process_time() - begun < 30
