"""The template language of system prompts: what it says, what it refuses, and what it may cost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.prompt.template import MAX_NESTING, MAX_RENDERED, BadTemplate, Template, TooLong, parse, render


def rendered(text: str, **values: Any) -> str:
    return render(parse(text), {name: json.dumps(value) for name, value in values.items()}).text


def missing(text: str, **values: Any) -> tuple[str, ...]:
    return render(parse(text), {name: json.dumps(value) for name, value in values.items()}).missing


@pytest.mark.parametrize(
    ("template", "value", "text"),
    [
        ("hp {{hp}}!", '"full"', "hp full!"),
        ("hp {{ hp }}!", "5", "hp 5!"),
        ("{{hp}}", "9007199254740993", "9007199254740993"),
        ("{{hp}}", "1.10e+2", "1.10e+2"),
        ("{{hp}}", '{ "b": 1, "a": [2] }', '{ "b": 1, "a": [2] }'),
        ("{{hp.b}}", '{"a": 1, "b" : {"z":1,  "y":2.0} }', '{"z":1,  "y":2.0}'),
        ("{{hp.b.y}}", '{"a": 1, "b" : {"z":1,  "y":2.0} }', "2.0"),
        ("{{hp.1}}", '["x", "\\u00e9y"]', "éy"),
        ("{{hp.a.0.b}}", '{"a":[{"b":"deep"}]}', "deep"),
        ("{{hp}}", "null", "null"),
        ("{{hp}}", '"{{hp}} {{#if"', "{{hp}} {{#if"),
        ("{{hp}}", '"a\\nb\\"c\\u00e9"', 'a\nb"cé'),
        ("\\{{hp}}", "1", "{{hp}}"),
        ("}} } {", "1", "}} } {"),
        ("{{hp|none}}", '"some"', "some"),
    ],
)
def test_a_value_is_inserted_as_text(template: str, value: str, text: str) -> None:
    assert render(parse(template), {"hp": value}).text == text


def test_a_missing_value_is_nothing_or_the_default_and_named_once() -> None:
    text = "a{{x}}b{{y.z}}c{{x| d }}e{{a.q}}"
    assert rendered(text, a={"p": 1}) == "abc d e"
    assert missing(text, a={"p": 1}) == ("x", "y.z", "a.q")


@pytest.mark.parametrize("no", [None, False, 0, -0.0, "", [], {}])
def test_what_counts_as_no(no: Any) -> None:
    assert rendered("{{#if v}}yes{{else}}no{{/if}}", v=no) == "no"
    assert rendered("<{{#if v}}yes{{/if}}>", v=no) == "<>"


@pytest.mark.parametrize("yes", [True, 1, -0.5, "0", " ", [0], {"a": None}, 1e-9])
def test_what_counts_as_yes(yes: Any) -> None:
    assert rendered("{{#if v}}yes{{else}}no{{/if}}", v=yes) == "yes"


@pytest.mark.parametrize("zero", ["0e9", "0.000", "-0", " 0 ", "[ ]", "{\n}", "0E-7"])
def test_other_spellings_of_nothing(zero: str) -> None:
    assert render(parse("{{#if v}}yes{{/if}}"), {"v": zero}).text == ""


def test_an_absent_name_in_a_condition_is_a_question_not_a_gap() -> None:
    text = "{{#if hero}}Hail {{hero.name}}{{else}}Nobody, {{who}}{{/if}}."
    assert rendered(text) == "Nobody, ."
    assert missing(text) == ("who",)
    assert rendered(text, hero={"name": "Ada"}) == "Hail Ada."
    assert missing(text, hero={"name": "Ada"}) == ()


def test_conditions_nest() -> None:
    text = "{{#if a}}A{{#if b}}B{{else}}b{{/if}}{{else}}a{{#if b}}B{{/if}}{{/if}}."
    assert [rendered(text, a=a, b=b) for a in (1, 0) for b in (1, 0)] == ["AB.", "Ab.", "aB.", "a."]


def test_a_name_with_dots_of_its_own_comes_first() -> None:
    assert rendered("{{a.b}} {{a.c}} {{a.b.d}}", **{"a.b": "own", "a": {"b": "inner", "c": "c"}}) == "own c "


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "$ne", "a'); (select 1)", '$.x"', "naïve", "a b"]
)
def test_any_name_is_only_a_name(name: str) -> None:
    assert rendered("{{" + name + "}}") == ""
    assert rendered("{{" + name + "}}", **{name: "here"}) == "here"


@pytest.mark.parametrize(
    ("template", "position"),
    [
        ("ab {{x", 3),
        ("{{}}", 0),
        ("é{{ }}", 1),
        ("x{{{x}}}", 1),
        ("{{#if x}}", 0),
        ("a{{#if x}}{{#if y}}{{/if}}", 1),
        ("a{{/if}}", 1),
        ("{{else}}", 0),
        ("{{#if x}}{{else}}{{else}}{{/if}}", 17),
        ("{{#if}}x{{/if}}", 0),
        ("{{#each x}}", 0),
        ("{{>partial}}", 0),
        ("{{&x}}", 0),
        ("{{! comment }}", 0),
        ("{{x\ny}}", 0),
        ("{{" + "x" * 257 + "}}", 0),
        ("{{#if x}}" * (MAX_NESTING + 1), 9 * MAX_NESTING),
    ],
)
def test_what_is_no_template_is_refused_with_its_place(template: str, position: int) -> None:
    with pytest.raises(BadTemplate) as refused:
        parse(template)
    assert refused.value.position == position
    assert f"at character {position}" in str(refused.value)


@given(st.text().filter(lambda text: "{{" not in text))
def test_text_without_braces_is_untouched(text: str) -> None:
    assert render(parse(text), {"x": "1"}) == render(parse(text), {})
    assert render(parse(text), {}).text == text


def accepted(text: str) -> Template | None:
    try:
        return parse(text)
    except BadTemplate:
        return None


PIECES = st.sampled_from(
    ["{{", "}}", "{", "}", "\\", "x", "#if x", "else", "/if", "|", ".", " ", "\n", "x.y", "#if "]
)


@given(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=20))
def test_whatever_is_accepted_can_be_rendered_and_shows_values_as_they_are(text: str, value: str) -> None:
    """Nothing in a value is ever read as a template: a value of braces comes out as itself."""
    template = accepted(text)
    if template is None:
        return
    plain = render(template, {"x": json.dumps("VALUE")})
    assert render(template, {"x": json.dumps("VALUE")}) == plain
    braces = render(template, {"x": json.dumps("{{x}}" + value)})
    assert braces.text == plain.text.replace("VALUE", "{{x}}" + value)
    assert braces.missing == plain.missing


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(alphabet="abc", min_size=1), inner),
    max_leaves=12,
)


@given(JSON, st.booleans(), st.data())
def test_a_path_finds_what_json_finds(value: Any, spaced: bool, data: st.DataObject) -> None:
    text = json.dumps(value, indent=1 if spaced else None)
    here, path = value, []
    while isinstance(here, dict | list) and here:
        key = data.draw(st.sampled_from(sorted(here) if isinstance(here, dict) else range(len(here))))
        here = here[key]
        path.append(str(key))
    shown = render(parse("{{" + ".".join(["v", *path]) + "}}"), {"v": text}).text
    if isinstance(here, str):
        assert shown == here
    else:
        assert json.loads(shown) == here
        assert shown in text


def test_the_result_is_bounded() -> None:
    value = json.dumps("x" * 65_536)
    assert len(render(parse("{{x}}" * 16), {"x": value}).text) == MAX_RENDERED
    with pytest.raises(TooLong):
        render(parse("{{x}}" * 17), {"x": value})


def test_many_names_of_one_value_read_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a template of members would cost its length times the value's."""
    from kernel.prompt import template

    read = []
    real = template.Json
    monkeypatch.setattr(template, "Json", lambda text: read.append(text) or real(text))
    big = json.dumps({f"k{i}": i for i in range(1_000)})
    text = "".join("{{v.k" + str(i) + "}}" for i in range(1_000))
    assert render(parse(text), {"v": big}).text == "".join(map(str, range(1_000)))
    assert len(read) == 1
