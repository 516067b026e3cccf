"""`stemma import`: one file after the other."""

from collections.abc import Sequence
from pathlib import Path

from stemma.conversation.v1 import session_service_pb2

from stemma_cli.client import Client
from stemma_cli.errors import ApiError, CliError, Interrupted, UsageError
from stemma_cli.files.guess import guess
from stemma_cli.files.importing import Import
from stemma_cli.files.report import Report
from stemma_cli.files.source import Source, check_file, read_through, request_id_of
from stemma_cli.options import Format
from stemma_cli.output import Output
from stemma_cli.progress import Progress
from stemma_cli.words import plural, printable

_NAME = 500


class Imports:
    """What all files have in common. `project_id` and `request_id` are empty when they were not given."""

    def __init__(self, out: Output, client: Client, project_id: str, request_id: str) -> None:
        self._out = out
        self._client = client
        self._project_id = project_id
        self._request_id = request_id
        self._taken = 0
        self._refused = 0
        self._files_refused = 0

    def run(self, paths: Sequence[Path], format: Format | None) -> None:
        """Imports all of them; one that is refused does not stop the others.

        Raises CliError when a file or a conversation could not be taken, when the service cannot be
        reached, or at Ctrl-C.
        """
        formats = self._formats(paths, format)
        # Whether anybody is there, before much is read.
        self._client.list_sessions(1)
        try:
            for path in paths:
                self._import(path, formats[path], alone=len(paths) == 1)
        except KeyboardInterrupt:
            raise Interrupted(f"Stopped. {self._resumable()}") from None
        self._conclude()

    def _formats(self, paths: Sequence[Path], format: Format | None) -> dict[Path, Format]:
        """Of each file; all of them are looked at before any is imported."""
        if self._request_id and len(paths) > 1:
            raise UsageError("--request-id is for one file: conversations of two would get the same ids.")
        found: dict[Path, Format] = {}
        for path in paths:
            check_file(path)
            if format is None:
                guessed = guess(path)
                self._out.aside(
                    f"{path}: taken for {guessed.format.value}, as {guessed.why}. --format says otherwise."
                )
                found[path] = guessed.format
            else:
                found[path] = format
        return found

    def _import(self, path: Path, format: Format, *, alone: bool) -> None:
        with Progress(self._out, f"reading {path.name}", total=path.stat().st_size) as progress:
            source = read_through(path, progress.at)
        report = Report(self._out)
        try:
            self._send(source, format, report)
        except ApiError as error:
            if not error.reached or error.passing:
                error.message = f"{error.message} {self._resumable(report.taken)}"
                raise
            error.message = f"{path}: {error.message}"
            if alone:
                raise
            self._out.error(error)
            self._files_refused += 1
        finally:
            self._taken += report.taken
            self._refused += report.refused
        if report.taken or report.refused:
            self._out.say(report.summary(str(path)), "bold")

    def _send(self, source: Source, format: Format, report: Report) -> None:
        name = source.path.name
        header = session_service_pb2.ImportHeader(
            request_id=self._request_id or request_id_of(source, format, self._project_id),
            format=format.value,
            file_name=printable(name)[:_NAME],
            project_id=self._project_id,
        )
        ended = f"{name}: all of it is sent"
        with Progress(self._out, f"sending {name}", total=source.size, ended=ended) as progress:
            sending = Import(self._client, source, header, progress)
            for answer in sending.results():
                report.add(answer)
                progress.note(f"{plural(sending.landed, 'conversation')} in")

    def _conclude(self) -> None:
        if self._taken:
            self._out.note("The same command again, within a day, makes nothing twice.")
        if self._files_refused or self._refused:
            parts = [
                plural(self._files_refused, "file") if self._files_refused else "",
                plural(self._refused, "conversation") if self._refused else "",
            ]
            raise CliError(f"{' and '.join(filter(None, parts))} could not be taken: see above.")

    def _resumable(self, more: int = 0) -> str:
        """What stands, and how to go on. `more` landed that are not counted yet."""
        taken = self._taken + more
        stands = f"{plural(taken, 'conversation')} landed" if taken else "Nothing landed yet"
        return f"{stands}; the same command again goes on from there, and makes nothing twice."
