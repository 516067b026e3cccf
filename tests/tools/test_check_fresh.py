"""How check-fresh reads the README and what its curl answers; the rest of it is run, not tested."""

from __future__ import annotations

import os
import signal
import sys
import uuid
from pathlib import Path

import pytest

from tests.support.processes import running
from tools import check_fresh
from tools.check_fresh import NotFreshError

README = """
```sh
make run
```
```python
curl = "http://localhost:8080"
```
```sh
curl -X POST http://localhost:8080/v1/sessions -d '{}'
```
```sh
curl http://localhost:8080/second
```
"""


def test_the_first_curl_is_aimed_at_the_running_gateway() -> None:
    script = check_fresh.first_curl(README, "http://127.0.0.1:4711")
    assert script == "curl -X POST http://127.0.0.1:4711/v1/sessions -d '{}'\n"


@pytest.mark.parametrize("readme", ["no block", "```sh\ncurl http://localhost:9/\n```\n"])
def test_a_readme_without_a_usable_curl_is_refused(readme: str) -> None:
    with pytest.raises(NotFreshError):
        check_fresh.first_curl(readme, "http://127.0.0.1:4711")


def test_json_and_events_are_answers() -> None:
    assert check_fresh.parse_answer('{"session": {}}\n{"floor": {}}') == [{"session": {}}, {"floor": {}}]
    stream = 'id: 1.1\ndata: {"started": {}}\n\n: keep\n\nid: 1.2\ndata: {"floorCommitted": {}}\n\n'
    assert check_fresh.parse_answer(stream) == [{"started": {}}, {"floorCommitted": {}}]


@pytest.mark.parametrize(
    "printed", ["", "<html>", "[]", '{"code": 5, "message": "no", "details": []}', 'data: {"failed": {}}\n']
)
def test_errors_and_nothing_are_not(printed: str) -> None:
    with pytest.raises(NotFreshError):
        check_fresh.parse_answer(printed)


def test_the_environment_is_a_strangers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = ("STEMMA_DATA", "PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS", "ARGS", "XDG_CACHE_HOME", "UV_CACHE_DIR")
    for name in ours:
        monkeypatch.setenv(name, "/somewhere")
    monkeypatch.setenv("PATH", os.pathsep.join(["/somewhere/bin", "/usr/bin"]))
    for name in ("SSL_CERT_FILE", "HTTPS_PROXY", "PIP_CERT"):
        monkeypatch.setenv(name, "kept")
    env = check_fresh.environment(tmp_path, "mark")
    assert "/somewhere" not in env.values()
    assert (env["HOME"], env["PATH"]) == (str(tmp_path), "/usr/bin")
    assert env["SSL_CERT_FILE"] == env["HTTPS_PROXY"] == env["PIP_CERT"] == "kept"


async def test_what_is_left_running_is_found() -> None:
    mark = uuid.uuid4().hex
    program = "import signal; print('demo listening on x', flush=True); signal.pause()"
    async with running("demo", [sys.executable, "-c", program], {check_fresh.MARK: mark}) as demo:
        assert [line.split()[0] for line in check_fresh.left_running(mark)] == [str(demo.pid)]
        await demo.stop(signal.SIGTERM)
    assert check_fresh.none_left(mark, 5) == []
