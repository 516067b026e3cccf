"""Runs `buf breaking`: may today's contract replace the one that clients already have?

What it is compared with, the first that applies:
- a revision named on the command line;
- HEAD, when the .proto files differ from it (work not committed yet);
- the fork point with origin/main, when HEAD has left it;
- the parent of the newest commit that changed a .proto file: in a clean checkout of main, the last
  state of the contract before its latest change.
A repository without that history (a first commit, a shallow clone) has nothing to compare with: the
answer says so, and is a success.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTO_FILES = ("protos/*.proto", "protos/**/*.proto", "protos/buf.yaml")


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints, stripped; None when it fails."""
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def baseline(root: Path) -> tuple[str | None, str]:
    """The revision to compare with, and why it; None when there is none."""
    head = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    if head is None:
        return None, "no commit yet"
    if _git(root, "status", "--porcelain", "--", *PROTO_FILES):
        return head, "the last commit; the .proto files have changed since"
    fork = _git(root, "merge-base", "HEAD", "origin/main")
    if fork is not None and fork != head:
        return fork, "the fork point with origin/main"
    newest = _git(root, "log", "-1", "--format=%H", "--", *PROTO_FILES)
    if not newest:
        return None, "no commit holds a .proto file"
    before = _git(root, "rev-parse", "--verify", "--quiet", f"{newest}^")
    if before is None:
        if _git(root, "rev-parse", "--is-shallow-repository") == "true":
            return None, "the history of this clone ends here"
        return None, "the contract is as first committed"
    return before, "the state before the newest change of the contract"


def extract(root: Path, revision: str, into: Path) -> bool:
    """Writes the contract of a revision below `into`; False when that revision has none."""
    command = ["git", "-C", str(root), "archive", "--format=tar", revision, "protos"]
    archive = subprocess.run(command, capture_output=True, check=False)
    if archive.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(into, filter="data")
    return any((into / "protos").rglob("*.proto"))


def main() -> int:
    """Exit status 0 when compatible or nothing to compare with; buf's own otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("revision", nargs="?", help="compare with this one")
    options = parser.parse_args()
    named = options.revision
    revision, why = (named, "named") if named else baseline(options.root)
    if revision is None:
        print(f"nothing to compare with: {why}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        if not extract(options.root, revision, Path(folder)):
            if named:
                print(f"{revision} has no contract", file=sys.stderr)
                return 2
            print(f"nothing to compare with: {revision[:12]} ({why}) has no contract")
            return 0
        buf = Path(sys.executable).with_name("buf")
        command = [str(buf), "breaking", "protos", "--against", f"{folder}/protos"]
        done = subprocess.run(command, cwd=options.root, check=False)
    print(f"compared with {revision[:12]}: {why}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
