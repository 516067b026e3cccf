"""Every check of `make lint` that is ours catches what it is for: each test plants one fault."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tools import check_code, check_lock, check_text, protos

ROOT = Path(__file__).resolve().parents[2]
FLOOR_PROTO = "protos/stemma/kernel/v1/floor.proto"

Git = Callable[..., None]


def _run(
    command: list[str], cwd: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")


# --- the contract ---------------------------------------------------------------------------------


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in a new repository at `tmp_path`, whose first commit is today's contract."""

    def run(*arguments: str) -> None:
        identity = [
            "-c",
            "user.name=test",
            "-c",
            "user.email=test@example.invalid",
            "-c",
            "commit.gpgsign=false",
        ]
        done = _run(["git", *identity, *arguments], tmp_path)
        assert done.returncode == 0, done.stdout

    run("init", "--quiet", "--initial-branch=main")
    shutil.copytree(ROOT / "protos", tmp_path / "protos", ignore=shutil.ignore_patterns("gen"))
    run("add", "--all")
    run("commit", "--quiet", "--message=the contract")
    return run


def _breaking(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "tools.proto_breaking", "--root", str(root), *arguments]
    done = _run(command, ROOT)
    return done.returncode, done.stdout


def test_a_first_contract_has_nothing_to_compare_with(git: Git, tmp_path: Path) -> None:
    status, output = _breaking(tmp_path)
    assert (status, output) == (0, "nothing to compare with: the contract is as first committed\n")


@pytest.mark.parametrize("committed", [False, True], ids=["in the work tree", "committed"])
def test_a_renamed_field_is_breaking(git: Git, tmp_path: Path, committed: bool) -> None:
    _replace(tmp_path / FLOOR_PROTO, "int32 ordinal = ", "int32 place = ")
    if committed:
        git("commit", "--quiet", "--all", "--message=rename")
        (tmp_path / "README.md").write_text("a later commit hides nothing\n", encoding="utf-8")
        git("add", "--all")
        git("commit", "--quiet", "--message=later")
    status, output = _breaking(tmp_path)
    assert status != 0
    assert '"ordinal"' in output


def test_an_added_field_is_not_breaking(git: Git, tmp_path: Path) -> None:
    _replace(tmp_path / FLOOR_PROTO, "  int32 ordinal = ", "  int32 added = 1000;\n  int32 ordinal = ")
    status, output = _breaking(tmp_path)
    assert status == 0
    assert "compared with" in output


def test_a_shallow_clone_says_so(git: Git, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    _replace(tmp_path / FLOOR_PROTO, "  int32 ordinal = ", "  int32 added = 1000;\n  int32 ordinal = ")
    git("commit", "--quiet", "--all", "--message=add")
    shallow = tmp_path_factory.mktemp("clone") / "shallow"
    git("clone", "--quiet", "--depth=1", f"file://{tmp_path}", str(shallow))
    status, output = _breaking(shallow)
    assert (status, output) == (0, "nothing to compare with: the history of this clone ends here\n")


# --- generated code -------------------------------------------------------------------------------


@pytest.fixture
def contract(tmp_path: Path) -> Path:
    """A copy of the contract with what was generated from it."""
    shutil.copytree(ROOT / "protos", tmp_path / "protos", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "protos"


def test_what_is_generated_now_is_fresh_and_the_same_bytes_each_time(contract: Path) -> None:
    assert protos.differences(contract) == []
    shutil.rmtree(contract / "gen")
    protos.write(contract)
    assert protos.differences(contract) == []


def test_stale_generated_code_is_found(contract: Path) -> None:
    generated = contract / "gen/stemma/kernel/v1"
    (generated / "floor_pb2.py").write_bytes((generated / "floor_pb2.py").read_bytes() + b"\n")
    (generated / "run_pb2.pyi").unlink()
    (generated / "old_pb2.py").touch()
    assert protos.differences(contract) == [
        "missing: stemma/kernel/v1/run_pb2.pyi",
        "not generated any more: stemma/kernel/v1/old_pb2.py",
        "stale: stemma/kernel/v1/floor_pb2.py",
    ]


def test_a_changed_contract_makes_generated_code_stale(contract: Path) -> None:
    _replace(contract / "stemma/kernel/v1/floor.proto", "int32 ordinal = ", "int32 place = ")
    command = [sys.executable, "-m", "tools.protos", "--check", "--protos", str(contract)]
    done = _run(command, ROOT)
    assert done.returncode == 1
    assert "stale: stemma/kernel/v1/floor_pb2.py\n" in done.stdout


# --- layers ---------------------------------------------------------------------------------------

PLANTED = {
    "The kernel knows no service": ("kernel/tree/planted.py", "import conversation_service"),
    "Rules and use cases": ("conversation_service/app/planted.py", "import grpc"),
    "The service: main over": ("conversation_service/app/planted.py", "import conversation_service.rpc"),
    "The kernel: wire, runs": ("kernel/storage/planted.py", "import kernel.rpc"),
    "The gateway translates": ("gateway/planted.py", "import kernel.storage"),
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the packages that import-linter reads."""
    for package in ("kernel", "conversation_service", "gateway", "cli", "protos/gen"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def _layers(sources: Path) -> tuple[int, str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    paths = os.pathsep.join(str(sources / folder) for folder in (".", "cli", "protos/gen"))
    done = _run(command, sources, {"PYTHONPATH": paths})
    return done.returncode, done.stdout


def test_the_layers_hold(sources: Path) -> None:
    status, output = _layers(sources)
    assert status == 0, output


@pytest.mark.parametrize("contract", PLANTED)
def test_a_forbidden_import_is_found(sources: Path, contract: str) -> None:
    file, line = PLANTED[contract]
    (sources / file).write_text(f"{line}\n", encoding="utf-8")
    status, output = _layers(sources)
    assert status == 1, output
    broken = [printed for printed in output.splitlines() if printed.rstrip().endswith("BROKEN")]
    assert any(printed.startswith(contract) for printed in broken), output


# --- rules of the house ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("\n" * 401, "401 lines; at most 400"),
        ("def long():\n" + "    x = 1\n" * 60, "long has 61 lines; at most 60"),
        ("# TO" + "DO: later\n", "an unfinished mark"),
        ("raise NotImplemented" + "Error\n", "an unfinished mark"),
        ("import pytest\npytest." + "skip('no server')\n", "a skipped test"),
        ("try:\n    f()\nexcept Exception:\n    " + "pass\n", "a swallowed error"),
        ("import time\ntime." + "sleep(1)\n", "a fixed sleep"),
    ],
)
def test_code_against_the_rules_is_found(source: str, what: str) -> None:
    assert what in [found for _, found in check_code.problems(source)]


def test_code_within_the_rules_is_not() -> None:
    source = "def short():\n" + "    x = 1\n" * 59 + "\n" * 340
    assert list(check_code.problems(source)) == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("index = https://py" + "pi.org/simple", "the host of a package registry"),
        ("see /ro" + "ot/notes", "a path of one machine"),
        ("cd /work/" + "main", "a path of one machine"),
        ("-----BEGIN PRIVATE" + " KEY-----", "a private key"),
        ("key: sk-" + "a1B2c3D4e5F6g7H8i9J0", "what looks like an access key"),
    ],
)
def test_text_that_must_not_be_published_is_found(line: str, what: str) -> None:
    assert list(check_text.problems(f"fine\n{line}\n")) == [(2, what)]


def test_ordinary_text_is_not() -> None:
    text = "example.com /v1/sessions ./data sqlite:////tmp/x.db the root/home of a tree; sk-short\n"
    assert list(check_text.problems(text)) == []


def test_a_lock_that_does_not_answer_the_project_is_found() -> None:
    project = {"dependencies": ["one>=2", "Two_x[extra]>=1"], "optional-dependencies": {"more": ["three"]}}
    pyproject = {"project": project, "dependency-groups": {"dev": ["four<2"]}}
    lock = "one==2.1 \\\n  --hash=x\ntwo-x==1\nthree==1\nfour==1.9 ; sys_platform == 'x'\n"
    assert check_lock.problems(pyproject, lock) == []
    assert check_lock.problems(pyproject, "one==1.9\ntwo-x==1\nfour==2\n") == [
        "one>=2 is asked for, 1.9 is locked",
        "three is not in requirements.lock",
        "four<2 is asked for, 2 is locked",
    ]
