"""What a handler knows of the call that it answers, and who is calling."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# Pairs as they came, a key as often as it was sent: two credentials must be seen to be refused.
Metadata = Sequence[tuple[str, str | bytes]]


# What an identity may be in its whole tenant, and what it may do besides.
TENANT_ROLES = frozenset({"owner", "contributor", "observer"})
ADMIN, SERVICE, INTERNAL_DRAFTS = "admin", "service", "drafts.internal"
SCOPES = frozenset({ADMIN, SERVICE, INTERNAL_DRAFTS})

# The names of a client's certificate, where one was asked for and verified; asked only when it matters.
Peer = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose call it is: the tenant is the isolation boundary, the roles decide.

    `roles` holds at most one of TENANT_ROLES, for all of the tenant's projects; without one, the members
    of each project decide. SCOPES stand there too. `credential` names the key or token that said so, for
    asking again while a stream goes on.
    """

    tenant_id: str
    principal: str
    roles: frozenset[str]
    credential: str = ""


def no_peer() -> Sequence[str]:
    return ()


class Authenticator(Protocol):
    """Turns credentials into an identity."""

    async def authenticate(self, metadata: Metadata, method: str, peer: Peer = no_peer) -> Identity:
        """The caller of `method` (`/package.Service/Method`).

        Raises kernel.errors.Unauthenticated without a valid credential, Forbidden when the
        metadata contradicts it, Unavailable when the credential cannot be checked now.
        """
        ...


class LocalAuthenticator:
    """The off mode: everybody is the owner of the tenant `local`, and may speak as a service. For loopback
    only."""

    _LOCAL = Identity("local", "local", frozenset({"owner", ADMIN, SERVICE}))

    async def authenticate(self, metadata: Metadata, method: str, peer: Peer = no_peer) -> Identity:
        return self._LOCAL


async def _nobody_waits() -> None:
    pass


async def _all_is_permitted(_message: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Call:
    """One call, without any of the transport's types.

    `request_id` is the call's `x-request-id`, for logs; the field of that name in a write is
    another matter (R1). `deadline` is on the monotonic clock; every call has one.

    `accept()` tells the client that the call was not refused, before there is anything to answer: a
    stream that may stay silent for long says so. The first answer says it anyway.

    `granted` are the caller's roles where the request goes, beside those of its identity. A handler whose
    client streams awaits `permit(message)` for each message that says what it is about, before it does
    anything for it; all others were asked about already.
    """

    identity: Identity
    request_id: str
    method: str
    deadline: float
    accept: Callable[[], Awaitable[None]] = _nobody_waits
    granted: frozenset[str] = frozenset()
    permit: Callable[[Any], Awaitable[None]] = _all_is_permitted

    def remaining(self) -> float:
        """Seconds until the call is cut off with DEADLINE_EXCEEDED; never negative."""
        return max(0.0, self.deadline - time.monotonic())
