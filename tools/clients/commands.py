"""Programs that the making of a client runs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path


class ClientError(Exception):
    """A client cannot be made; the text says what is missing, or what a compiler printed."""


def run(command: Sequence[str | Path], folder: Path, **environment: str) -> None:
    """Raises ClientError with all that the command printed when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ClientError(f"{Path(str(command[0])).name} failed:\n{done.stdout.strip()}")
