"""Who is calling: what a REST request brought goes on as metadata, and is judged by the service.

Each of these headers goes on as often as it was sent, so that the service sees two credentials and refuses.
"""

import re

from google.rpc import code_pb2
from starlette.datastructures import Headers

from gateway.errors import Refusal, over_limit, refusal
from gateway.upstream import Metadata

CREDENTIALS = ("authorization", "x-api-key")
FORWARDED = (*CREDENTIALS, "x-stemma-tenant")
# What gRPC can carry; anything else is no credential.
_CARRIED = re.compile(r"[ -~]*")
# A service takes no longer one, and gRPC drops calls with more metadata than twice as much.
_MAX_BYTES = 8 * 1024


def credentials_of(headers: Headers, *, required: bool) -> Metadata:
    """The pairs for the services. Refuses with 401 what cannot be a credential, and where one is `required`
    a request without: a certificate of our own must never speak for a caller who brought nothing; with 431
    what is too long."""
    found = tuple((name, value) for name in FORWARDED for value in headers.getlist(name))
    if not all(_CARRIED.fullmatch(value) for _, value in found):
        raise _unauthenticated("The credential is not valid.")
    if sum(len(value) for _, value in found) > _MAX_BYTES:
        raise over_limit("The credential is larger than 8 KiB.", 431)
    if required and not any(name in CREDENTIALS for name, _ in found):
        raise _unauthenticated("The request brings no credential.")
    return found


def _unauthenticated(why: str) -> Refusal:
    text = f"{why} Send an API key or a token that is valid now, as `Authorization: Bearer …`."
    return refusal(code_pb2.UNAUTHENTICATED, "UNAUTHENTICATED", text)
