"""The mutant runner on a project of three lines: only a test that fails counts as catching a fault."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import mutants
from tools.mutants import Mutant, MutantError

SOURCE = "def double(n):\n    return 2 * n\n"
TESTS = """
import pytest
from double import double

@pytest.fixture
def answer():
    return double(0)

def test_zero(answer): assert answer == 0
def test_three(): assert double(3) == 6
def test_wrong(): assert double(3) == 7
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git work tree with one function and its tests."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "double.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "test_double.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def _mutant(old: str, new: str, *tests: str) -> Mutant:
    return Mutant("planted", "double.py", old, new, tests)


def test_a_fault_that_a_test_notices_is_caught_and_nothing_of_it_stays(project: Path) -> None:
    mutant = _mutant("2 * n", "n + 2", "test_double.py::test_zero", "test_double.py::test_three")
    mutants.check_unmutated(project, [mutant])
    assert mutants.attempt(project, mutant) == "test_zero"
    assert (project / "double.py").read_text(encoding="utf-8") == SOURCE


def test_a_fault_that_its_test_does_not_notice_survives(project: Path) -> None:
    with pytest.raises(MutantError, match="SURVIVED"):
        mutants.attempt(project, _mutant("2 * n", "n * n", "test_double.py::test_zero"))


@pytest.mark.parametrize(("old", "new"), [("2 * n", "2 *"), ("2 * n", "1 / n")], ids=["import", "fixture"])
def test_an_error_before_the_test_does_not_count(project: Path, old: str, new: str) -> None:
    with pytest.raises(MutantError, match=r"^error"):
        mutants.attempt(project, _mutant(old, new, "test_double.py::test_zero"))


@pytest.mark.parametrize(("old", "times"), [("3 * n", 0), ("n", 3)])
def test_an_entry_that_does_not_fit_its_file_is_refused(project: Path, old: str, times: int) -> None:
    with pytest.raises(MutantError, match=f"has the old text {times} times"):
        mutants.attempt(project, _mutant(old, "", "test_double.py::test_three"))


@pytest.mark.parametrize("test", ["test_wrong", "test_missing"])
def test_a_named_test_must_pass_without_a_mutant(project: Path, test: str) -> None:
    with pytest.raises(MutantError, match="does not pass without any mutant"):
        mutants.check_unmutated(project, [_mutant("2 * n", "", f"test_double.py::{test}")])


def test_the_list_of_the_project_fits_it(tmp_path: Path) -> None:
    """Each entry's old text stands once in its file: code that moved on takes its mutants along."""
    for mutant in mutants.load(mutants.ROOT / "tools/mutants.toml"):
        path = tmp_path / mutant.name / mutant.file
        path.parent.mkdir(parents=True)
        path.write_text((mutants.ROOT / mutant.file).read_text(encoding="utf-8"), encoding="utf-8")
        mutants.plant(mutant, tmp_path / mutant.name)
