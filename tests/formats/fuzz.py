"""Importers against damaged files: `python -m tests.formats.fuzz FORMAT --seconds 60 [--seed 1]`.

Whatever a file holds, a reader gives conversations, reports bad ones, or raises a StemmaError; every
planned tree has exactly the paths of its file, and, written and read again, is the same. Anything
else ends the run with the input kept in a file, and exit status 1. The same seed makes the same
inputs. `--guided` lets atheris look for inputs that reach new code, where it is installed.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from conversation_service.domain.exports.write import export
from conversation_service.domain.imports.model import BadConversation, Conversation, NativeConversation
from conversation_service.domain.imports.read import FORMATS, read
from conversation_service.domain.imports.shape import plan
from kernel.errors import StemmaError
from tests.formats.mutations import mutated, seeds
from tests.formats.sessions import session_of
from tests.formats.support import counted, encode, node_path, node_paths, pieces, plan_head, plan_paths

# By the definition, a file's paths take quadratic time.
_MOST_NODES = 300
_SLOW_SECONDS = 10.0


def check(format: str, data: bytes) -> int:
    """How many conversations the file gave; raises what no importer may, AssertionError for a wrong tree."""
    count = 0
    try:
        for found in read(format, pieces(data, 1 + len(data) // 3), encode):
            assert found.index == count
            count += 1
            if isinstance(found, Conversation):
                _check_plan(format, found)
            elif isinstance(found, NativeConversation):
                (again,) = read(format, export(format, found.tree), encode)
                assert isinstance(again, NativeConversation)
                assert again.tree == found.tree
            else:
                assert found.reason in ("INVALID", "LIMIT", "DIGEST_MISMATCH")
                assert found.message
    except StemmaError:
        return count
    return count


def _check_plan(format: str, conversation: Conversation) -> None:
    tree = plan(conversation)
    if isinstance(tree, BadConversation) or len(conversation.nodes) > _MOST_NODES:
        return
    assert plan_paths(tree) == counted(node_paths(conversation.nodes))
    if conversation.current_key is not None:
        marked = node_path(conversation.nodes, conversation.current_key)
        assert marked is None or plan_head(tree) == marked
    (again,) = read(format, export(format, session_of(tree)), encode)
    assert isinstance(again, Conversation), again
    same = plan(again)
    assert not isinstance(same, BadConversation), same
    assert (same.floors, same.head) == (tree.floors, tree.head)


def run(format: str, seconds: float, seed: int = 1) -> tuple[int, int]:
    """Inputs tried, and conversations found in them. Raises AssertionError with the input's file."""
    dice = random.Random(f"{format} {seed}")
    corpus = seeds(format)
    tried = conversations = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        data = mutated(dice, corpus)
        begun = time.monotonic()
        try:
            conversations += check(format, data)
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} for {kept(format, data)}") from error
        assert time.monotonic() - begun < _SLOW_SECONDS, f"too slow for {kept(format, data)}"
        tried += 1
    return tried, conversations


def kept(format: str, data: bytes) -> Path:
    """Writes an input that failed to a temporary file."""
    with tempfile.NamedTemporaryFile(prefix=f"fuzz-{format}-", delete=False) as file:
        file.write(data)
    return Path(file.name)


def _target(format: str, data: bytes) -> None:
    check(format, data)


def guided(format: str, seconds: int) -> None:
    """Never returns: libFuzzer ends the process, with status 0 when nothing was found."""
    import atheris

    atheris.instrument_all()
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(seeds(format)):
            (Path(folder) / str(number)).write_bytes(data)
        limits = [f"-max_total_time={seconds}", f"-timeout={_SLOW_SECONDS:.0f}"]
        options = [*limits, f"-artifact_prefix={tempfile.gettempdir()}/fuzz-{format}-"]
        atheris.Setup([sys.argv[0], *options, folder], lambda data: _target(format, data))
        atheris.Fuzz()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.formats.fuzz", description=__doc__)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--guided", action="store_true")
    options = parser.parse_args(arguments)
    if options.guided:
        guided(options.format, options.seconds)
    try:
        tried, conversations = run(options.format, options.seconds, options.seed)
    except AssertionError as error:
        print(f"{options.format}: {error}: {error.__cause__}", file=sys.stderr)
        return 1
    print(f"{options.format}: {tried} inputs, {conversations} conversations, seed {options.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
