"""The list of conversations."""

from datetime import UTC, datetime

from rich.text import Text
from stemma.kernel.v1 import session_pb2

from stemma_cli.client import Client
from stemma_cli.output import Output
from stemma_cli.words import page_text, plural, shortened


def show_sessions(out: Output, client: Client, limit: int) -> None:
    """One line each: id, last activity, length of main, title or first words."""
    answer = client.list_sessions(limit)
    out.answer(answer)
    if out.json:
        return
    if not answer.sessions:
        out.note("There are no conversations yet: `stemma chat` begins one.")
    for session in answer.sessions:
        out.say(_line(client, session, out.width))
    if answer.next_page_token:
        out.note(f"… and more: --limit {2 * limit} shows them.")


def _line(client: Client, session: session_pb2.Session, width: int) -> Text:
    turns, words = _beginning(client, session)
    line = Text.assemble(
        (session.session_id, "bold"),
        (f"  {_ago(session.last_activity_time.ToDatetime(UTC)):>14}", "dim"),
        f"  {plural(turns, 'turn'):>9}  ",
        shortened(session.title or words, 80) or "(nothing said yet)",
    )
    line.truncate(width, overflow="ellipsis")
    return line


def _beginning(client: Client, session: session_pb2.Session) -> tuple[int, str]:
    """Turns on main, and its first words."""
    branches = client.list_branches(session.session_id).branches
    main = next(branch for branch in branches if branch.name == "main")
    if not main.depth:
        return 0, ""
    first = client.path_page(session.session_id, main.head_floor_id, size=1).floors[0]
    return main.depth, page_text(first.input_page) or page_text(first.output_page)


def _ago(time: datetime) -> str:
    seconds = max(0, int((datetime.now(UTC) - time).total_seconds()))
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= size:
            return f"{plural(seconds // size, unit)} ago"
    return "just now"
