"""The language of system prompts: text with places for variables. It reaches nothing but their values. Pure.

    {{hp}}                          the variable's value: a string bare, anything else as its exact JSON
    {{hero.name}} {{bag.0}}         a member of an object, an element of a list
    {{mood|calm}}                   with what stands for a missing value; else that is nothing
    {{#if met}}…{{else}}…{{/if}}    by whether there is a value that is not null, false, 0, "", [] or {}
    \\{{                             the two braces themselves

A name is the longest one that a variable has, so a variable may have dots in its own name; names in `#if`
follow the same rules. Values are inserted as text and never read as templates. There are no calls, no
loops and no other tags. Parsing takes time linear in the template, rendering in the template, the values
and the result.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from kernel.prompt.json_path import Json, is_truthy, shown

MAX_NAME, MAX_NESTING, MAX_RENDERED = 256, 32, 1024 * 1024

_OPEN, _CLOSE = "{{", "}}"
_TAG = re.compile(r"(\\?)\{\{")
# Tags of other template languages, and names that nobody could see.
_NO_NAME = re.compile(r"[\x00-\x1f\x7f{}]|\A[#/^>&!=]|\A\Z")


class BadTemplate(ValueError):
    """The text is no template: why, and where, in characters from 0."""

    def __init__(self, why: str, position: int) -> None:
        super().__init__(f"{why}, at character {position}")
        self.position = position


class TooLong(ValueError):
    """The rendered text would be more than 1 MiB."""


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


@dataclass(frozen=True, slots=True)
class _Value:
    name: str
    default: str


@dataclass(slots=True)
class _Jump:
    """Goes on at `to`: always, or when there is no such value."""

    to: int
    unless: str | None = None


Template = tuple[_Text | _Value | _Jump, ...]


@dataclass(frozen=True, slots=True)
class Rendered:
    """`missing`: the names that had no value where one was to be shown, each once, in order."""

    text: str
    missing: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def parse(text: str) -> Template:
    """Raises BadTemplate."""
    steps: list[_Text | _Value | _Jump] = []
    # Of each `#if` that is open: where it stands, the jump to be aimed, and whether its `else` was seen.
    open_ifs: list[tuple[int, _Jump, bool]] = []
    at = 0
    while (found := _TAG.search(text, at)) is not None:
        steps.append(_Text(text[at : found.start()]))
        if found[1]:
            steps.append(_Text(_OPEN))
            at = found.end()
            continue
        start, end = found.start(), text.find(_CLOSE, found.end())
        if end < 0:
            raise BadTemplate("has {{ without }}", start)
        _add(steps, open_ifs, text[found.end() : end], start)
        at = end + len(_CLOSE)
    if open_ifs:
        raise BadTemplate("has {{#if}} without {{/if}}", open_ifs[-1][0])
    steps.append(_Text(text[at:]))
    return tuple(steps)


def _add(
    steps: list[_Text | _Value | _Jump], open_ifs: list[tuple[int, _Jump, bool]], tag: str, at: int
) -> None:
    body = tag.strip()
    if body == "#if" or body.startswith("#if "):
        if len(open_ifs) == MAX_NESTING:
            raise BadTemplate(f"nests {{{{#if}}}} deeper than {MAX_NESTING} levels", at)
        jump = _Jump(0, _name(body[3:], at))
        open_ifs.append((at, jump, False))
        steps.append(jump)
    elif body in ("else", "/if"):
        if not open_ifs or (body == "else" and open_ifs[-1][2]):
            raise BadTemplate(f"has {{{{{body}}}}} without {{{{#if}}}}", at)
        start, jump, _ = open_ifs.pop()
        if body == "else":
            over = _Jump(0)
            steps.append(over)
            open_ifs.append((start, over, True))
        jump.to = len(steps)
    else:
        name, _, default = tag.partition("|")
        steps.append(_Value(_name(name, at), default))


def _name(given: str, at: int) -> str:
    name = given.strip()
    if len(name) > MAX_NAME or _NO_NAME.search(name):
        raise BadTemplate("has a tag that is neither a name, #if, else nor /if", at)
    return name


def render(template: Template, values: Mapping[str, str]) -> Rendered:
    """The text with the values, which are JSON texts by name. Raises TooLong."""
    found: dict[str, str | None] = {}
    parsed: dict[str, Json] = {}
    missing: dict[str, None] = {}
    pieces: list[str] = []
    size = at = 0
    while at < len(template):
        step = template[at]
        at += 1
        if isinstance(step, _Text):
            piece = step.text
        else:
            name = step.unless if isinstance(step, _Jump) else step.name
            if name is not None and name not in found:
                found[name] = _value(name, values, parsed)
            value = None if name is None else found[name]
            if isinstance(step, _Jump):
                at = at if value is not None and is_truthy(value) else step.to
                continue
            if value is None:
                missing[step.name] = None
            piece = step.default if value is None else shown(value)
        size += len(piece.encode())
        if size > MAX_RENDERED:
            raise TooLong
        pieces.append(piece)
    return Rendered("".join(pieces), tuple(missing))


def _value(name: str, values: Mapping[str, str], parsed: dict[str, Json]) -> str | None:
    """The JSON text that a name stands for."""
    key, end = name, len(name)
    while key not in values:
        end = name.rfind(".", 0, end)
        if end < 0:
            return None
        key = name[:end]
    if key == name:
        return values[key]
    if key not in parsed:
        parsed[key] = Json(values[key])
    return parsed[key].at(name[end + 1 :].split("."))
