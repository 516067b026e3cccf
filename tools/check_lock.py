"""Does requirements.lock hold what pyproject.toml asks for? Reads the two files and asks no registry."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def problems(pyproject: dict[str, Any], lock: str) -> list[str]:
    """One line for each direct requirement that the lock lacks or does not meet."""
    project = pyproject["project"]
    asked = [*project["dependencies"]]
    for extra in project.get("optional-dependencies", {}).values():
        asked += extra
    for group in pyproject.get("dependency-groups", {}).values():
        asked += group
    pins = {canonicalize_name(name): version for name, version in PIN.findall(lock)}
    found = []
    for requirement in map(Requirement, asked):
        version = pins.get(canonicalize_name(requirement.name))
        if version is None:
            found.append(f"{requirement.name} is not in requirements.lock")
        elif not requirement.specifier.contains(version, prereleases=True):
            found.append(f"{requirement} is asked for, {version} is locked")
    return found


def main(root: Path = ROOT) -> int:
    """Exit status 0 when the lock answers the project."""
    pyproject = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    found = problems(pyproject, (root / "requirements.lock").read_text(encoding="utf-8"))
    if found:
        print(*found, "run `make lock`", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
