"""`stemma export`: a session as a file, all of it or none."""

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from stemma_cli.client import Client
from stemma_cli.errors import CliError, Interrupted, UsageError
from stemma_cli.options import Format
from stemma_cli.output import Output
from stemma_cli.progress import Progress

STDOUT = "-"
_ENDINGS = {
    Format.STEMMA: "stemma.jsonl",
    Format.OASST: "oasst.jsonl",
    Format.CHATGPT: "chatgpt.json",
    Format.LOG_JSONL: "log.jsonl",
}


def export(out: Output, client: Client, session_id: str, format: Format, *, output: str, force: bool) -> None:
    """Writes to `output`, else to a file named after the session here. Raises CliError; nothing is left
    then, and what was there stays."""
    try:
        if output == STDOUT:
            if out.json:
                raise UsageError("--json and -o - both want standard output: leave one of them out.")
            _receive(out, client, session_id, format, sys.stdout.buffer)
            return
        target = Path(output or f"{session_id}.{_ENDINGS[format]}")
        with _written(target, force=force) as file:
            size = _receive(out, client, session_id, format, file)
    except KeyboardInterrupt:
        raise Interrupted("Stopped. Nothing was written.") from None
    except OSError as error:
        raise CliError(f"The file cannot be written: {error.strerror or type(error).__name__}.") from None
    out.answer_dict({"file": str(target), "format": format.value, "bytes": size})
    out.say(f"Wrote {target}, {size:,} bytes.")


def _receive(out: Output, client: Client, session_id: str, format: Format, file: BinaryIO) -> int:
    """-> how many bytes came, all of them written and flushed."""
    size = 0
    with (
        Progress(out, f"exporting {session_id}") as progress,
        closing(client.export_session(session_id, format.value)) as pieces,
    ):
        for piece in pieces:
            file.write(piece.file.data)
            size += len(piece.file.data)
            progress.at(size)
    file.flush()
    return size


@contextmanager
def _written(target: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file beside the target, which takes its place when the block ends well, and goes when it does not."""
    target = target.resolve()
    _check(target, force=force)
    part = target.with_name(f".{target.name[:200]}.{uuid.uuid4().hex[:8]}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # Again: somebody else may have been quicker.
        _check(target, force=force)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _check(target: Path, *, force: bool) -> None:
    if target.exists() and not target.is_file():
        raise UsageError(f"{target} is there, and no file. `-o -` writes to standard output.")
    if target.exists() and not force:
        raise UsageError(f"{target} is there already: --force overwrites it.")
