"""Runs every check of `make lint`, two at a time, and prints one line for each and the words of those that
failed. `python -m tools.lint NAME…` runs the named ones only. Exit status 1 when any failed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON = sys.executable

# Slowest first: two at a time then end together.
CHECKS: dict[str, Sequence[str]] = {
    "types": (
        PYTHON,
        "-m",
        "mypy",
        "kernel",
        "conversation_service",
        "draft_service",
        "gateway",
        "cli",
        "clients",
        "tools",
    ),
    "layers": (f"{BIN}/lint-imports", "--no-cache"),
    "generated": (PYTHON, "-m", "tools.protos", "--check"),
    "front door": (PYTHON, "-m", "tools.envoy", "--check"),
    "settings": (PYTHON, "-m", "tools.settings_page", "--check"),
    "reference": (PYTHON, "-m", "tools.api_pages", "--check"),
    "style": (f"{BIN}/ruff", "check", "--quiet", "--output-format=concise", "."),
    "format": (f"{BIN}/ruff", "format", "--check", "--quiet", "."),
    "contract": (f"{BIN}/buf", "lint", "protos"),
    "breaking": (PYTHON, "-m", "tools.proto_breaking"),
    "code": (PYTHON, "-m", "tools.check_code"),
    "text": (PYTHON, "-m", "tools.check_text"),
    "lock": (PYTHON, "-m", "tools.check_lock"),
}


def _environment() -> dict[str, str]:
    """Ours, with the source folders first: a stale install must not be what is checked."""
    paths = os.pathsep.join(str(ROOT / folder) for folder in (".", "cli", "clients/python", "protos/gen"))
    return {**os.environ, "PYTHONPATH": paths}


def run(name: str) -> tuple[int, str, float]:
    """Exit status, what the check printed, and the seconds it took."""
    started = time.monotonic()
    done = subprocess.run(
        CHECKS[name],
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.strip(), time.monotonic() - started


def main(names: Sequence[str]) -> int:
    """Exit status 0 when every check passed, 2 for a name that is none."""
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        print(f"no such check: {', '.join(unknown)}; there are {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    failed = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        running = {pool.submit(run, name): name for name in names or CHECKS}
        for future in as_completed(running):
            name = running[future]
            status, output, seconds = future.result()
            print(f"lint: {name:10} {'ok' if status == 0 else 'FAILED':7} {seconds:5.1f} s", flush=True)
            if status:
                failed.append(name)
                print(output, flush=True)
            elif name == "breaking":
                print(f"      {output}", flush=True)
    if failed:
        print(f"lint: failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
