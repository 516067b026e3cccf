"""How the console's files are served, and what they may not hold."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from gateway.static import FOLDER, console_routes, digest_of

OURS = [path for path in FOLDER.rglob("*") if path.is_file() and "vendor" not in path.parts]
SCRIPTS = [path for path in OURS if path.suffix == ".js"]
# What would turn a text into markup or code, or speak to somebody else.
FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|createContextualFragment"
    r"|DOMParser|srcdoc|\beval\(|new Function|setAttribute\(\s*[\"']on|javascript:|importScripts|WebSocket"
    r"|sendBeacon|XMLHttpRequest|https?://"
)
ALLOWED = {
    # The namespace of SVG in an image.
    "icon.svg": {"http://"},
    # Upload progress, which fetch does not tell.
    "sessions.js": {"XMLHttpRequest"},
}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(Starlette(routes=console_routes()), base_url="http://127.0.0.1") as one:
        yield one


@pytest.fixture(scope="module")
def files() -> str:
    return f"/console/{digest_of(FOLDER)}"


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_nothing_makes_markup_of_text_or_speaks_to_others(path: Path) -> None:
    found = set(FORBIDDEN.findall(path.read_text("utf-8")))
    assert found == ALLOWED.get(path.name, set())


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_files_are_short(path: Path) -> None:
    limit = 420 if path.suffix == ".css" else 240
    assert len(path.read_text("utf-8").splitlines()) <= limit


def test_the_page_may_do_what_it_needs_and_no_more(client: TestClient) -> None:
    answer = client.get("/console/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == policy["style-src"] == "'self'"
    assert policy["trusted-types"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "<style" not in answer.text
    assert answer.text.count("<script>") == 0


def test_everything_that_the_page_names_is_there(client: TestClient) -> None:
    page = client.get("/console/")
    named = re.findall(r'(?:href|src)="([^"]+)"|": "(\./[^"]+)"', page.text)
    assert len(named) > len(SCRIPTS)
    for one in {first or second for first, second in named}:
        assert client.get(f"/console/{one}").status_code == 200, one
    assert page.text.count("modulepreload") == len(list((FOLDER / "app").rglob("*.js")))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("app/main.js", "text/javascript; charset=utf-8"),
        ("css/base.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
        ("vendor/preact/preact.module.js", "text/javascript; charset=utf-8"),
    ],
)
def test_files_have_their_type_and_are_kept(client: TestClient, files: str, path: str, kind: str) -> None:
    answer = client.get(f"{files}/{path}")
    assert answer.headers["content-type"] == kind
    assert "immutable" in answer.headers["cache-control"]
    head = client.head(f"{files}/{path}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == answer.headers["content-length"]
    again = client.get(f"{files}/{path}", headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304


def test_the_page_is_asked_for_each_time_and_answered_once(client: TestClient) -> None:
    answer = client.get("/console/")
    assert answer.headers["cache-control"] == "no-cache"
    assert client.get("/console/", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
    assert client.head("/console/").status_code == 200
    assert client.post("/console/").status_code == 405
    moved = client.get("/console", follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (308, "/console/")


@pytest.mark.parametrize(
    "path",
    [
        "../app.py",
        "..%2fapp.py",
        "%2e%2e/app.py",
        "app/..%2f..%2fapp.py",
        "..%5capp.py",
        "//etc/passwd",
        "%2fetc%2fpasswd",
        "app",
        "nothing.js",
        "app/main.js%00.css",
        "a" * 300,
    ],
)
def test_nothing_else_can_be_had(client: TestClient, files: str, path: str) -> None:
    assert client.get(f"{files}/{path}").status_code == 404


def test_the_wheel_carries_the_files() -> None:
    """hatchling takes a package with all that git does not ignore."""
    from hatchling.builders.wheel import WheelBuilder

    root = FOLDER.parents[1]
    included = {one.distribution_path for one in WheelBuilder(str(root)).recurse_included_files()}
    missing = [
        path
        for path in FOLDER.rglob("*")
        if path.is_file() and path.relative_to(root).as_posix() not in included
    ]
    assert not missing
