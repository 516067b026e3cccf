"""The router: that it serves what routes.md lists, and nothing by another spelling."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import Refusal
from gateway.routes import Table, Template
from gateway.services import bindings

# The rows of the design's routes.md whose RPCs exist: method, path, RPC.
ROWS = [line.split() for line in (Path(__file__).parent / "routes.txt").read_text().splitlines()]
TABLE = Table(bindings())


def match(method: str, path: str) -> tuple[str, dict[str, str]]:
    binding, values = TABLE.match(method, path.encode())
    return f"{binding.method.service}.{binding.method.name}", values


def refused(method: str, path: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        match(method, path)
    return caught.value


def test_the_annotations_are_the_listed_routes() -> None:
    served = {
        (one.http_method, one.template, f"{one.method.service}.{one.method.name}") for one in bindings()
    }
    assert served == {tuple(row) for row in ROWS}


@pytest.mark.parametrize(("method", "path", "rpc"), ROWS, ids=lambda value: value)
def test_every_listed_path_reaches_its_rpc_with_its_values(method: str, path: str, rpc: str) -> None:
    names = Template.parse(path).names
    values = {name: f"value-of.{name}" for name in names if name}
    filled = path
    for name, value in values.items():
        filled = filled.replace("{" + name + "}", value)
    assert match(method, filled) == (rpc, values)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/nothing",
        "/v1/sessions/",
        "/v1/sessions//",
        "//v1/sessions",
        "/v1/sessions:",
        "/v1/sessions:nothing",
        "/v1/sessions/s:nothing",
        "/v1/sessions/s/floors/",
        "/v1/sessions/s/floors:",
        "/v1/sessions/s/floors%3Aopen",
        "/v1%2Fsessions",
        "/V1/sessions",
        "http://127.0.0.1/v1/sessions",
        "*",
    ],
)
def test_unknown_paths_are_not_found(path: str) -> None:
    assert refused("POST", path).http == 404


@pytest.mark.parametrize(
    "segment",
    [
        "",
        "%2f",
        "..%2f",
        "..",
        "%2e%2e",
        ".",
        "a%2Fb",
        "a%3Ab",
        "a:b",
        "%00",
        "a%0ab",
        "%ff",
        "%e2%80%8f",
        "%",
        "%zz",
    ],
)
def test_bad_input_18_values_that_no_path_can_hold(segment: str) -> None:
    for path in (f"/v1/sessions/{segment}/path", f"/v1/sessions/{segment}/branches"):
        refusal = refused("GET", path)
        assert (refusal.http, refusal.status.message[:10]) == (400, "session_id")
    assert refused("POST", f"/v1/sessions/{segment}:respond").http == 400


def test_a_verb_follows_a_variable_or_a_literal() -> None:
    assert match("POST", "/v1/sessions/s:respond")[0] == "RunService.Respond"
    assert match("POST", "/v1/sessions/s/floors:open")[0] == "FloorService.OpenFloor"
    assert match("POST", "/v1/sessions/s/floors")[0] == "FloorService.AppendFloor"
    # The verb is not part of the id, and an encoded one is no verb.
    assert match("POST", "/v1/sessions/s:respond")[1] == {"session_id": "s"}
    assert refused("GET", "/v1/sessions/s%3Arespond").http == 400


def test_values_are_decoded_once() -> None:
    assert match("GET", "/v1/sessions/a%2eb%25")[1] == {"session_id": "a.b%"}


def test_another_method_is_told_what_the_path_takes() -> None:
    refusal = refused("PUT", "/v1/sessions/s/branches")
    assert (refusal.http, refusal.headers) == (405, {"allow": "GET, POST"})
    assert refused("GET", "/v1/sessions/s:respond").headers == {"allow": "POST"}


def test_two_bindings_for_one_place_are_refused_at_the_start() -> None:
    one = next(iter(bindings()))
    with pytest.raises(ValueError, match="two bindings"):
        Table([one, one])
    get = next(one for one in bindings() if one.template == "/v1/sessions/{session_id}")
    with pytest.raises(ValueError, match="two bindings"):
        Table([get, replace(get, template="/v1/sessions/{request_id}")])


def test_a_literal_wins_over_a_variable() -> None:
    get = next(one for one in bindings() if one.template == "/v1/sessions/{session_id}")
    fixed = replace(get, template="/v1/sessions/latest")
    for order in ([get, fixed], [fixed, get]):
        table = Table(order)
        assert table.match("GET", b"/v1/sessions/latest") == (fixed, {})
        assert table.match("GET", b"/v1/sessions/other") == (get, {"session_id": "other"})


@pytest.mark.parametrize("text", ["v1/x", "/v1/{a.b}", "/v1/{a=x/*}", "/v1/*", "/v1/x:a:b", "/v1//x"])
def test_templates_that_the_router_cannot_serve_are_refused_at_the_start(text: str) -> None:
    with pytest.raises(ValueError, match="not a path template"):
        Template.parse(text)
