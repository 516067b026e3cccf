"""Generates protos/gen from protos/stemma, and tells whether what is there is fresh.

`python -m tools.protos` writes; `--check` compares byte for byte and writes nothing. The result depends
on the .proto files and the locked compiler alone: the same input gives the same bytes.

Beside Python, `stemma/descriptors.binpb` holds a serialised FileDescriptorSet of every file and its
imports, with the comments of Stemma's own files: what reflection and the OpenAPI document are made of.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from google.protobuf import descriptor_pb2

ROOT = Path(__file__).resolve().parent.parent
DESCRIPTORS = Path("stemma/descriptors.binpb")


class GenerationError(Exception):
    """protoc refused; the message is what it printed."""


def _protoc(protos: Path, arguments: Iterable[str]) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", ".", "-I", "third_party", *arguments]
    done = subprocess.run(command, cwd=protos, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GenerationError(done.stderr.strip())


def _with_own_comments(raw: bytes) -> descriptor_pb2.FileDescriptorSet:
    """The set with source locations kept only where Stemma's own files have a comment."""
    files = descriptor_pb2.FileDescriptorSet.FromString(raw)
    for file in files.file:
        own = file.package.startswith("stemma.")
        commented = [
            location
            for location in file.source_code_info.location
            if own and (location.leading_comments or location.trailing_comments)
        ]
        file.ClearField("source_code_info")
        file.source_code_info.location.extend(commented)
    return files


def generate(protos: Path, out: Path) -> None:
    """Writes everything generated from `protos`/stemma below `out`, an existing empty folder.

    Raises GenerationError when a .proto file does not compile.
    """
    sources = sorted(path.relative_to(protos).as_posix() for path in (protos / "stemma").rglob("*.proto"))
    descriptors = out / DESCRIPTORS
    descriptors.parent.mkdir(parents=True)
    described = ["--include_imports", "--include_source_info", f"--descriptor_set_out={descriptors}"]
    _protoc(protos, [f"--python_out={out}", f"--pyi_out={out}", *described, *sources])
    files = _with_own_comments(descriptors.read_bytes())
    descriptors.write_bytes(files.SerializeToString(deterministic=True))
    # A file without a service would get a module with nothing in it.
    with_services = [file.name for file in files.file if file.service]
    if with_services:
        _protoc(protos, [f"--grpc_python_out={out}", *with_services])


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def differences(protos: Path) -> list[str]:
    """What in `protos`/gen is not what `protos`/stemma generates: one line per file, empty when fresh."""
    with tempfile.TemporaryDirectory() as folder:
        generate(protos, Path(folder))
        fresh = _contents(Path(folder))
    present = _contents(protos / "gen")
    missing = [f"missing: {name}" for name in fresh.keys() - present.keys()]
    left_over = [f"not generated any more: {name}" for name in present.keys() - fresh.keys()]
    stale = [f"stale: {name}" for name in fresh.keys() & present.keys() if fresh[name] != present[name]]
    return sorted(missing + left_over + stale)


def write(protos: Path) -> int:
    """Brings `protos`/gen to what is generated now, touching only what differs.

    Returns the number of files.
    """
    with tempfile.TemporaryDirectory() as folder:
        generate(protos, Path(folder))
        fresh = _contents(Path(folder))
    present = _contents(protos / "gen")
    for name in present.keys() - fresh.keys():
        (protos / "gen" / name).unlink()
    for name, content in fresh.items():
        if present.get(name) != content:
            target = protos / "gen" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return len(fresh)


def main() -> int:
    """Exit status 0 when written or fresh, 1 when stale or not compiling."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--protos", type=Path, default=ROOT / "protos", help="the folder of the contract")
    options = parser.parse_args()
    try:
        if not options.check:
            print(f"protos/gen: {write(options.protos)} files")
            return 0
        found = differences(options.protos)
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1
    if found:
        print("protos/gen is not what protos/stemma generates; run `make protos`:", *found, sep="\n  ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
