"""Stemma's services from Python: the generated stubs, with what a careful caller adds.

    from stemma_client import Stemma
    from stemma.conversation.v1 import session_service_pb2 as sessions

    with Stemma("127.0.0.1:50051") as stemma:
        session = stemma.sessions.CreateSession(sessions.CreateSessionRequest(title="Apples")).session

`Stemma` and `AsyncStemma` are alike. Each has the services as attributes, with the methods of the contract:

- a request without a `request_id` gets one, and keeps it through every retry: so a write happens once
- what passes (a connection that breaks, a server that stops or has too much to do) is tried again, after the
  pause that the server asks for or with growing ones, as long as the call's time allows
- refusals are exceptions with the reason and its metadata: `HeadMoved.current_head`; see `errors`
- `respond`, `attach` and `watch` go on after a cut where they were: no frame is lost or comes twice
"""

from stemma_client import errors
from stemma_client.aio import AsyncStemma
from stemma_client.retries import Retries
from stemma_client.sync import Stemma

__all__ = ["AsyncStemma", "Retries", "Stemma", "errors"]
