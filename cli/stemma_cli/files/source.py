"""A file that is imported: what it is known by, and its bytes."""

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from uuid import UUID, uuid5

from stemma_cli.errors import CliError, UsageError
from stemma_cli.options import Format

CHUNK = 256 * 1024
# Never change it: what was imported under it would be made once more.
_NAMESPACE = UUID("5a4c1d1e-2f0b-5b0e-9f57-6d2f3c1b7a90")


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was when it was read through. `digest` is its SHA-256."""

    path: Path
    size: int
    digest: bytes

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, a chunk at a time.

        The last one is held back until all of them are known to be those that were read before: what is
        sent is what the request id was made of. Raises CliError when they are not.
        """
        digest, left = sha256(), self.size
        try:
            with self.path.open("rb") as file:
                while chunk := file.read(min(CHUNK, left)):
                    digest.update(chunk)
                    left -= len(chunk)
                    if not left:
                        break
                    yield chunk
        except OSError as error:
            raise _unreadable(self.path, error) from None
        if left or digest.digest() != self.digest:
            raise CliError(f"{self.path} was changed while it was read: import it again. Nothing was made.")
        if self.size:
            yield chunk


def check_file(path: Path) -> None:
    """Raises UsageError for what cannot be read twice, or not at all."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    if not stat.S_ISREG(mode):
        raise UsageError(f"{path} is not a file. It is read twice, so it cannot be a pipe.")


def read_through(path: Path, seen: Callable[[int], None]) -> Source:
    """Reads the whole file once, telling `seen` the bytes so far. Raises CliError."""
    digest, size = sha256(), 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(4 * CHUNK):
                digest.update(chunk)
                size += len(chunk)
                seen(size)
    except OSError as error:
        raise _unreadable(path, error) from None
    return Source(path, size, digest.digest())


def request_id_of(source: Source, format: Format, project_id: str) -> str:
    """The same for the same bytes, format and project, wherever and whenever the command is run."""
    project = project_id.lower() or "default"
    return str(uuid5(_NAMESPACE, f"{source.digest.hex()} {format.value} {project}"))


def _unreadable(path: Path, error: OSError) -> CliError:
    return CliError(f"{path} cannot be read: {error.strerror or type(error).__name__}.")
