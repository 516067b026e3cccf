"""Proves that a fresh clone works: clones the last commit to a temporary folder and, with an empty home and
none of the caller's settings, runs `make run`, the first curl of the README, and `make test`.

Needs only Python's standard library, git, make, curl. Exit status 1 with the reason when anything fails.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 900.0
STOP_SECONDS = 10.0
CURL_SECONDS = 120.0
LISTENING = re.compile(r"^gateway listening on (http://\S+)$", re.MULTILINE)
README_ADDRESS = re.compile(r"http://(?:localhost|127[.]0[.]0[.]1):8080\b")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Set for everything that is started, so that whatever is left can be found.
MARK = "CHECK_FRESH_RUN"
# What decides where Python, make or uv take things from; the rest (proxies, certificates) is the machine's.
DROPPED = re.compile(
    r"^(STEMMA_|PYTHON(?!DONTWRITEBYTECODE)|VIRTUAL_ENV|CONDA_|UV_(?!HTTP_TIMEOUT|INDEX|DEFAULT_INDEX)"
    r"|XDG_|MAKE|MFLAGS|ARGS$|GIT_(?!SSL)|PYTEST_)"
)


class NotFreshError(Exception):
    """What does not work in a fresh clone."""


def say(what: str) -> None:
    """One line of progress, at once."""
    print(f"check-fresh: {what}", flush=True)


def environment(home: Path, mark: str) -> dict[str, str]:
    """The caller's environment with an empty home, a mark, and nothing of its project settings."""
    kept = {name: value for name, value in os.environ.items() if not DROPPED.match(name)}
    venv = os.environ.get("VIRTUAL_ENV")
    if venv:
        others = [path for path in kept["PATH"].split(os.pathsep) if not path.startswith(venv)]
        kept["PATH"] = os.pathsep.join(others)
    return {**kept, "HOME": str(home), MARK: mark}


def first_curl(readme: str, address: str) -> str:
    """The README's first shell block that calls curl, aimed at `address`.

    Raises NotFreshError without one.
    """
    for block in BLOCK.findall(readme):
        if re.search(r"(^|[\s(])curl -", block):
            script, replaced = README_ADDRESS.subn(address, block)
            if not replaced:
                raise NotFreshError(f"README's first curl does not call port 8080:\n{block}")
            return str(script)
    raise NotFreshError("README has no ```sh block that calls curl")


def parse_answer(printed: str) -> list[Any]:
    """The JSON documents in what curl printed: bare ones, or the data lines of server-sent events.

    Raises NotFreshError when there is none, or one that is an error of the API.
    """
    events = re.findall(r"^data: ?(.*)$", printed, re.MULTILINE)
    documents, rest = [json.loads(event) for event in events], "" if events else printed.strip()
    while rest:
        try:
            document, end = json.JSONDecoder().raw_decode(rest)
        except json.JSONDecodeError as error:
            raise NotFreshError(f"README's first curl printed something else than JSON: {rest}") from error
        documents.append(document)
        rest = rest[end:].strip()
    if not documents:
        raise NotFreshError("README's first curl printed nothing")
    for document in documents:
        if not isinstance(document, dict) or {"code", "message"} <= document.keys() or "failed" in document:
            raise NotFreshError(f"README's first curl got {document}")
    return documents


def left_running(mark: str) -> list[str]:
    """Process id and command of what still runs with the mark (Linux; elsewhere nothing is known)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            marked = f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:  # ended meanwhile, or another user's
            continue
        if marked and command:
            found.append(f"{folder.name} {command}")
    return found


def none_left(mark: str, seconds: float) -> list[str]:
    """What still runs with the mark after at most `seconds`; empty as soon as nothing does."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while (left := left_running(mark)) and time.monotonic() < deadline:
        pause.wait(0.1)
    return left


class MakeRun:
    """`make run` in a process group of its own, as a terminal would have it."""

    def __init__(self, clone: Path, env: Mapping[str, str]) -> None:
        # No fixed port: another Stemma may be running here.
        ports = dict.fromkeys(("STEMMA_HTTP", "STEMMA_CONVERSATION", "STEMMA_DRAFT"), "127.0.0.1:0")
        self._lines: list[str] = []
        self._news: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            ["make", "run"],
            cwd=clone,
            env={**env, **ports},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._news.put(line.rstrip("\n"))
        self._news.put(None)

    def printed(self) -> str:
        """All that was printed so far."""
        while not self._news.empty():
            self._lines.append(self._news.get() or "")
        return "\n".join(self._lines)

    def address(self) -> str:
        """The gateway's base URL, once it listens. Raises NotFreshError when it never does."""
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                line = self._news.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise NotFreshError(f"`make run` was not ready in time:\n{self.printed()}") from None
            if line is None:
                raise NotFreshError(f"`make run` ended before it served:\n{self.printed()}")
            self._lines.append(line)
            if line.startswith("env:"):
                say(f"  {line}")
            if match := LISTENING.match(line):
                return match[1]

    def interrupt(self, mark: str) -> float:
        """Ctrl-C: seconds until everything had ended. Raises NotFreshError when something stays."""
        started = time.monotonic()
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise NotFreshError(f"`make run` goes on after Ctrl-C:\n{self.printed()}") from None
        left = none_left(mark, STOP_SECONDS - (time.monotonic() - started))
        if left:
            raise NotFreshError("left running after Ctrl-C:\n" + "\n".join(left))
        return time.monotonic() - started

    def kill(self, mark: str) -> None:
        """Whatever happened: nothing of ours stays."""
        for line in left_running(mark):
            with suppress(ProcessLookupError):
                os.kill(int(line.split()[0]), signal.SIGKILL)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def try_run(clone: Path, env: Mapping[str, str], mark: str) -> None:
    """`make run`, the README's first curl, Ctrl-C."""
    started = time.monotonic()
    say("make run")
    run = MakeRun(clone, env)
    try:
        address = run.address()
        say(f"serving after {time.monotonic() - started:.0f} s; README's first curl")
        script = first_curl((clone / "README.md").read_text(encoding="utf-8"), address)
        # A function, so that an HTTP error fails the block that the README shows without --fail.
        script = f'curl() {{ command curl --silent --show-error --fail-with-body "$@"; }}\n{script}'
        curl = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=clone,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CURL_SECONDS,
            check=False,
        )
        if curl.returncode:
            raise NotFreshError(
                f"README's first curl failed:\n{curl.stdout}{curl.stderr}\nmake run:\n{run.printed()}"
            )
        say(f"answered with {len(parse_answer(curl.stdout))} JSON document(s); Ctrl-C")
        say(f"ended {run.interrupt(mark):.1f} s after Ctrl-C, nothing left running")
    finally:
        run.kill(mark)


def check(root: Path, targets: list[str]) -> None:
    """Clones HEAD of `root`, tries `make run`, then makes `targets`. Raises NotFreshError."""
    changed = subprocess.run(
        ["git", "-C", root, "status", "--porcelain"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    if changed:
        say(f"the last commit is checked; {len(changed)} changed files are not in it")
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="stemma-fresh-", ignore_cleanup_errors=True) as folder:
        clone, home = Path(folder) / "stemma", Path(folder) / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", "--no-local", root, clone], check=True)
        env = environment(home, mark)
        try_run(clone, env, mark)
        for target in targets:
            started = time.monotonic()
            say(f"make {target}")
            if subprocess.run(["make", target], cwd=clone, env=env, check=False).returncode:
                raise NotFreshError(f"`make {target}` failed")
            if left := none_left(mark, STOP_SECONDS):
                raise NotFreshError(f"left running after `make {target}`:\n" + "\n".join(left))
            say(f"make {target} passed in {time.monotonic() - started:.0f} s")


def main() -> int:
    """Exit status 0 when a fresh clone works."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to clone")
    parser.add_argument("targets", nargs="*", default=["test"], help="what to make after `run`")
    options = parser.parse_args()
    started = time.monotonic()
    try:
        check(options.root, options.targets)
    except NotFreshError as error:
        say(f"FAILED: {error}")
        return 1
    say(f"passed in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
