"""`stemma verify`: every session that is asked for, and everything that disagrees in it."""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.text import Text
from stemma.conversation.v1 import admin_service_pb2

from stemma_cli.client import Client
from stemma_cli.errors import ApiError, CliError, Interrupted
from stemma_cli.output import Output, as_json
from stemma_cli.progress import Progress
from stemma_cli.words import plural, printable


def verify(
    out: Output, client: Client, session_ids: Iterable[str], *, total: int | None, repair: bool = False
) -> None:
    """Each problem on a line of its own. `total`: how many there are; None for all that there are. With
    `repair`, counts and copies are written anew; what was found is a problem all the same.

    Raises CliError when there is any problem, or a session could not be looked at.
    """
    verifying = _Verifying(out, client, whole=total is None, repair=repair)
    try:
        with Progress(out, "verifying", total=total, of_bytes=False) as progress:
            for session_id in session_ids:
                verifying.one(session_id)
                progress.at(verifying.looked_at)
                progress.note(plural(verifying.problems, "problem") if verifying.problems else "")
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped. {verifying.summary()}") from None
    if verifying.problems or verifying.failed:
        raise CliError(verifying.summary())
    out.say(verifying.summary())


@dataclass(slots=True)
class _Verifying:
    out: Output
    client: Client
    whole: bool
    repair: bool = False
    looked_at: int = 0
    problems: int = 0
    bad: int = 0
    failed: int = 0
    repaired: int = 0

    def one(self, session_id: str) -> None:
        try:
            answer = self.client.verify_session(session_id, repair=self.repair)
        except ApiError as error:
            if not error.reached or error.passing:
                raise
            # Of all that there are, one may have been deleted meanwhile.
            if not (self.whole and error.reason == "NOT_FOUND"):
                self._refused(session_id, error)
            return
        self.looked_at += 1
        self.bad += bool(answer.problems)
        self.problems += len(answer.problems)
        self.repaired += answer.repaired
        self.out.answer_dict({"sessionId": session_id, **as_json(answer)})
        for problem in answer.problems:
            self.out.say(_line(session_id, problem))

    def _refused(self, session_id: str, error: ApiError) -> None:
        self.failed += 1
        self.out.answer_dict({"sessionId": session_id, "error": as_json(error.status)})
        self.out.say(
            Text.assemble((session_id, "bold"), ("  not verified: ", "red"), printable(error.message))
        )

    def summary(self) -> str:
        found = f"{plural(self.problems, 'problem')} in {self.bad:,} of " if self.problems else ""
        well = ": no problems" if self.looked_at and not self.problems else ""
        failed = f"; {self.failed:,} could not be verified" if self.failed else ""
        written = f"; {plural(self.repaired, 'row')} written anew" if self.repaired else ""
        return f"{found}{plural(self.looked_at, 'session')} verified{well}{failed}{written}."


def _line(session_id: str, problem: admin_service_pb2.Problem) -> Text:
    where = [
        f"{name} {place}"
        for name, place in (("floor", problem.floor_id), ("page", problem.page_id))
        if place and place not in problem.text
    ]
    line = Text.assemble((session_id, "bold"), (f"  {problem.kind}  ", "red"), printable(problem.text))
    return line.append(f"  {', '.join(where)}", "dim") if where else line
