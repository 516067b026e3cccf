"""A chat in one file: copy it, and begin.

    python chat.py             # asks STEMMA_CONVERSATION, with STEMMA_API_KEY if it is set

Each line is a turn. `/edit WORDS` says the last one differently, `/again` asks for another answer to it: both
keep what was there. Ends with the input.
"""

import os
import sys

from stemma.conversation.v1 import run_service_pb2 as runs
from stemma.conversation.v1 import session_service_pb2 as sessions
from stemma_client import Stemma, errors


def turn(line: str, last: str) -> runs.RespondRequest:
    """What a line asks for. `last` is the id of the last turn's floor; empty, it is the first."""
    command, _, words = line.partition(" ")
    if command == "/again" and last:
        return runs.RespondRequest(regenerate={"floor_id": last})
    messages = [{"role": "ROLE_USER", "parts": [{"text": {"text": words if command == "/edit" else line}}]}]
    if command == "/edit" and last:
        return runs.RespondRequest(edit={"floor_id": last, "messages": messages})
    return runs.RespondRequest(input={"messages": messages})


def main() -> None:
    address = os.environ.get("STEMMA_CONVERSATION", "127.0.0.1:50051")
    with Stemma(address, api_key=os.environ.get("STEMMA_API_KEY", "")) as stemma:
        session = stemma.sessions.CreateSession(sessions.CreateSessionRequest(title="Chat")).session
        print(f"session {session.session_id}", flush=True)
        last = ""
        for line in filter(None, map(str.strip, sys.stdin)):
            request = turn(line, last)
            request.session_id = session.session_id
            try:
                for event in stemma.respond(request):
                    last = event.floor_id
                    print(event.text_delta.text, end="", flush=True)
                    if event.WhichOneof("event") == "failed":
                        print(f"[failed: {event.failed.reason}]", end="")
                print(flush=True)
            except errors.StemmaError as refused:
                print(f"[{refused}]", flush=True)


if __name__ == "__main__":
    main()
