"""JSON Schema of a tool's arguments: what a schema may be, and what of some arguments does not fit it.

Schemas come from clients and from MCP servers, arguments from models: none of them may fetch a document, keep
this process busy or exhaust its memory. So references stay inside the schema, patterns are for an engine of
linear time (without look-around and back-references), and checking has a budget of steps.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError, validators
from jsonschema_specifications import REGISTRY
from pydantic_core import SchemaError, SchemaValidator, core_schema
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from kernel.strict_json import NotJson, dumps, loads

MAX_SCHEMA_BYTES = 64 * 1024
# Of one schema, and characters of each.
MAX_PATTERNS, MAX_PATTERN = 32, 500
# Of one check: keywords that are looked at, each the more the larger what it looks at.
MAX_STEPS = 200_000
_STEP_SIZE = 256
# That a model is told of at once, and characters of each.
_MAX_FAULTS, _MAX_TEXT = 5, 300
# Here a text is data and no schema.
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_NOT_CHECKABLE = "they are too many, or the tool's schema is too involved, to be checked"


class BadSchema(ValueError):
    """No schema that arguments can be checked against; says why, as in "has ..."."""


class _TooMuch(Exception):
    """More steps than a check may take."""


@dataclass(slots=True)
class _Budget:
    """Steps left, and by its id how large each list or object of the arguments is."""

    left: int
    sizes: dict[int, int]

    def take(self, instance: object) -> None:
        size = len(instance) if isinstance(instance, str) else self.sizes.get(id(instance), 0)
        self.left -= 1 + size // _STEP_SIZE
        if self.left < 0:
            raise _TooMuch


_budget: ContextVar[_Budget] = ContextVar("schema_budget")


class ArgumentSchema:
    """A checked schema. `faults` may be called from several threads at once."""

    def __init__(self, schema: dict[str, Any]) -> None:
        kind = _counting(validators.validator_for(schema, default=Draft202012Validator))
        # Knows the published meta-schemas, and fetches nothing.
        self._validator = kind(schema, registry=REGISTRY)

    def faults(self, arguments: object) -> list[str]:
        """What does not fit, as `place: why`, the first few; none when all does. Quotes the arguments, so it
        is for whoever wrote them."""
        sizes: dict[int, int] = {}
        _measure(arguments, sizes)
        token = _budget.set(_Budget(MAX_STEPS, sizes))
        try:
            found = islice(self._validator.iter_errors(arguments), _MAX_FAULTS)
            return [f"{error.json_path}: {_cut(error.message)}" for error in found]
        except (_TooMuch, RecursionError):
            return [f"$: {_NOT_CHECKABLE}"]
        except Unresolvable:
            return ["$: the tool's schema refers to something that it does not have"]
        finally:
            _budget.reset(token)


@lru_cache(maxsize=256)
def argument_schema(text: str, *, all_patterns: bool = True) -> ArgumentSchema:
    """The schema that a JSON text is; empty: any object.

    Args:
        all_patterns: Without it, a pattern that our engine does not know fits any text: whoever carries the
            tool out checks it.

    Raises: BadSchema.
    """
    try:
        schema = loads(text or "{}")
    except NotJson as error:
        raise BadSchema(str(error)) from None
    if not isinstance(schema, dict):
        raise BadSchema("must be a JSON object")
    if len(text.encode()) > MAX_SCHEMA_BYTES:
        raise BadSchema(f"is at most {MAX_SCHEMA_BYTES // 1024} KiB")
    _check_form(schema)
    _check_references(schema)
    _check_patterns(schema, all_patterns)
    return ArgumentSchema(schema)


def schema_fault(text: str) -> str | None:
    """Why a JSON text is no schema that arguments can be checked against; None when it is one."""
    try:
        argument_schema(text)
    except BadSchema as error:
        return str(error)
    return None


def pattern_count(text: str) -> int:
    """How many patterns a checked schema has: each takes some milliseconds to prepare."""
    return sum(1 for _ in _patterns(loads(text or "{}")))


def _check_form(schema: dict[str, Any]) -> None:
    kind = validators.validator_for(schema, default=Draft202012Validator)
    try:
        error = next(kind(kind.META_SCHEMA, registry=REGISTRY).iter_errors(schema), None)
    except RecursionError:
        raise BadSchema("is nested too deeply for a JSON Schema") from None
    if error is not None:
        raise BadSchema(f"is no JSON Schema: at {error.json_path}, {_cut(error.message)}")


def _check_references(schema: dict[str, Any]) -> None:
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = REGISTRY.resolver_with_root(resource)
    for name, value in _keywords(schema):
        if name in _REFERENCES and isinstance(value, str):
            if not value.startswith("#"):
                raise BadSchema("refers to another document: bring it along under $defs")
            try:
                resolver.lookup(value)
            except Unresolvable:
                raise BadSchema(f"has nothing at {_cut(value)}") from None


def _check_patterns(schema: dict[str, Any], all_patterns: bool) -> None:
    names = {name for name, _ in _keywords(schema)}
    if {"unevaluatedProperties", "patternProperties"} <= names:
        raise BadSchema("has both patternProperties and unevaluatedProperties, which is not supported")
    for count, pattern in enumerate(_patterns(schema)):
        if count >= MAX_PATTERNS:
            raise BadSchema(f"has at most {MAX_PATTERNS} patterns")
        if len(pattern) > MAX_PATTERN:
            raise BadSchema(f"has a pattern of more than {MAX_PATTERN} characters")
        if all_patterns and _compiled(pattern) is None:
            why = "a pattern that is none, or has look-around or back-references, or is too large"
            raise BadSchema(f"has {why}: {_cut(pattern)}")


def _patterns(schema: object) -> Iterator[str]:
    for name, value in _keywords(schema):
        if name == "pattern" and isinstance(value, str):
            yield value
        elif name == "patternProperties" and isinstance(value, dict):
            yield from value


def _keywords(schema: object) -> Iterator[tuple[str, object]]:
    """Every member of every object in it, but for what is data."""
    waiting = [schema]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            for name, value in current.items():
                yield name, value
                if name not in _DATA:
                    waiting.append(value)
        elif isinstance(current, list):
            waiting += current


def _measure(value: object, sizes: dict[int, int]) -> int:
    """Roughly the characters of a value, whose depth is bounded; notes those of each list and object."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        size = sum(len(key) + _measure(member, sizes) for key, member in value.items())
    elif isinstance(value, list):
        size = sum(_measure(member, sizes) for member in value)
    else:
        return 8
    sizes[id(value)] = size + len(value)
    return size + len(value)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}…"


# --- the keywords of the library, counted, and those of them that would not be bounded ----------------------

_Check = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


@lru_cache(maxsize=8)
def _counting(kind: Any) -> Any:
    """A draft's validator under the budget."""
    bounded = {name: check for name, check in _BOUNDED.items() if name in kind.VALIDATORS}
    checks = {**kind.VALIDATORS, **bounded}
    return validators.extend(kind, {name: _counted(check) for name, check in checks.items()})


def _counted(check: _Check) -> _Check:
    def counted(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        _budget.get().take(instance)
        return check(validator, value, instance, schema)

    return counted


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not _matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, below in patterns.items():
        for key, value in instance.items():
            if _matches(pattern, key):
                yield from validator.descend(value, below, path=key, schema_path=pattern)


def _additional_properties(
    validator: Any, below: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for key, value in instance.items():
        if key in known or any(_matches(pattern, key) for pattern in patterns):
            continue
        if below is False:
            yield ValidationError(f"{key!r} is no property that it has")
        else:
            yield from validator.descend(value, below, path=key)


def _unique_items(validator: Any, wanted: bool, instance: Any, _: Any) -> Iterator[ValidationError]:
    if wanted and validator.is_type(instance, "array"):
        seen = {dumps(_canonical(item)) for item in instance}
        if len(seen) < len(instance):
            yield ValidationError("has the same item twice")


def _canonical(value: Any) -> Any:
    """Equal for what JSON Schema calls equal: without the order of keys, and 1.0 as 1."""
    if isinstance(value, dict):
        return {key: _canonical(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _matches(pattern: str, text: str) -> bool:
    _budget.get().take(text)
    compiled = _compiled(pattern)
    return compiled is None or compiled.isinstance_python(text)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> SchemaValidator | None:
    """Finds the pattern anywhere in a text, in linear time. None for one that this engine does not know."""
    try:
        return SchemaValidator(
            core_schema.str_schema(pattern=pattern, strict=True, regex_engine="rust-regex")
        )
    except SchemaError:
        return None


_BOUNDED: dict[str, _Check] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}
