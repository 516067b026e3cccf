"""What a handler knows of the call that it answers, and who is calling."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

# Pairs as they came, a key as often as it was sent: two credentials must be seen to be refused.
Metadata = Sequence[tuple[str, str | bytes]]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose call it is: the tenant is the isolation boundary, the roles decide."""

    tenant_id: str
    principal: str
    roles: frozenset[str]


class Authenticator(Protocol):
    """Turns credentials into an identity."""

    async def authenticate(self, metadata: Metadata, method: str) -> Identity:
        """The caller of `method` (`/package.Service/Method`).

        Raises kernel.errors.Unauthenticated without a valid credential, Forbidden when the
        metadata contradicts it, Unavailable when the credential cannot be checked now.
        """
        ...


class LocalAuthenticator:
    """The off mode: everybody is the owner of the tenant `local`, and may speak as a service. For loopback
    only."""

    _LOCAL = Identity("local", "local", frozenset({"owner", "service"}))

    async def authenticate(self, metadata: Metadata, method: str) -> Identity:
        return self._LOCAL


async def _nobody_waits() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Call:
    """One call, without any of the transport's types.

    `request_id` is the call's `x-request-id`, for logs; the field of that name in a write is
    another matter (R1). `deadline` is on the monotonic clock; every call has one.

    `accept()` tells the client that the call was not refused, before there is anything to answer: a
    stream that may stay silent for long says so. The first answer says it anyway.
    """

    identity: Identity
    request_id: str
    method: str
    deadline: float
    accept: Callable[[], Awaitable[None]] = _nobody_waits

    def remaining(self) -> float:
        """Seconds until the call is cut off with DEADLINE_EXCEEDED; never negative."""
        return max(0.0, self.deadline - time.monotonic())
