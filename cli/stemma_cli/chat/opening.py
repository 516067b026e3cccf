"""Which conversation a chat is about."""

from stemma.conversation.v1 import session_service_pb2
from stemma.kernel.v1 import session_pb2

from stemma_cli.chat.conversation import Conversation, find_branch
from stemma_cli.client import Client
from stemma_cli.output import Output
from stemma_cli.words import shortened


def opened(client: Client, out: Output, *, session_id: str, new: bool, branch: str) -> Conversation:
    """The named session, else the latest one, else (or with `new`) a new one; says which."""
    if session_id:
        session = client.get_session(session_id).session
        return _found(client, out, session, branch, "Going on with")
    if not new:
        latest = client.list_sessions(1).sessions
        if latest:
            return _found(client, out, latest[0], branch, "Going on with your latest conversation,")
    answer = client.create_session()
    out.answer(answer)
    out.note(f"A new conversation, {answer.session.session_id}.")
    _say_help(out)
    if branch != answer.branch.name:
        return Conversation(client, answer.session, find_branch(client, answer.session.session_id, branch))
    return Conversation(client, answer.session, answer.branch)


def _found(client: Client, out: Output, session: session_pb2.Session, branch: str, how: str) -> Conversation:
    conversation = Conversation(client, session, find_branch(client, session.session_id, branch))
    out.answer(session_service_pb2.GetSessionResponse(session=session))
    title = f" ({shortened(session.title, 60)})" if session.title else ""
    where = "" if branch == "main" else f", branch {branch}"
    out.note(f"{how} {session.session_id}{title}{where}; --new begins another.")
    _say_help(out)
    return conversation


def _say_help(out: Output) -> None:
    if out.terminal:
        out.note("/help lists the commands; Ctrl-D leaves.\n")
