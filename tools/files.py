"""Which files are the project's: those that git tracks, and new ones that it does not ignore."""

from __future__ import annotations

import subprocess
from pathlib import Path


def project_files(root: Path, *patterns: str) -> list[Path]:
    """Paths below `root` of files that exist, sorted; `patterns` are git pathspecs (all when none)."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        [*command, "--", *patterns],
        capture_output=True,
        text=True,
        check=True,
    )
    names = sorted({name for name in listed.stdout.split("\0") if name})
    return [root / name for name in names if (root / name).is_file()]
