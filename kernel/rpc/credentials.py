"""Who calls, by what the call brought: one credential, or a service's certificate. Denies by default.

The credential is an API key or a JWT, and comes as `authorization: Bearer …` or as `x-api-key: …`, whichever
of the two it is.
"""

import hmac
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from kernel.errors import Forbidden, Unauthenticated
from kernel.rpc.call import SERVICE, Identity, Metadata, Peer, no_peer

TENANT = "x-stemma-tenant"
_PLACES = ("authorization", "x-api-key")
_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)")
_VISIBLE = re.compile(r"[!-~]+")
_MAX_LENGTH = 8 * 1024


@dataclass(frozen=True, slots=True)
class Given:
    """`token`: the one credential, "" for none. `tenant`: which tenant the caller says it is, "" for none."""

    token: str
    tenant: str


class Verifier(Protocol):
    """Knows one kind of credential."""

    async def verify(self, token: str) -> Identity | None:
        """Whose it is; None for a credential of another kind. Raises Unauthenticated for one that is not,
        or no longer, valid, Unavailable when that cannot be said now."""


def unauthenticated(why: str = "The credential is not valid.") -> Unauthenticated:
    """Never says what of a credential is wrong: who holds a bad one learns nothing from it."""
    return Unauthenticated("UNAUTHENTICATED", f"{why} Send an API key or a token that is valid now.")


def given(metadata: Metadata) -> Given:
    """Raises Unauthenticated for more than one credential, or for one that is malformed."""
    found = [(key, value) for key, value in metadata if key in _PLACES]
    if len(found) > 1:
        raise unauthenticated("The call brings more than one credential.")
    tenants = {str(value) for key, value in metadata if key == TENANT}
    if len(tenants) > 1:
        raise unauthenticated("The call names more than one tenant.")
    token = _token(*found[0]) if found else ""
    return Given(token, next(iter(tenants), ""))


def _token(key: str, value: str | bytes) -> str:
    pattern = _BEARER if key == "authorization" else _VISIBLE
    match = pattern.fullmatch(value) if isinstance(value, str) and len(value) <= _MAX_LENGTH else None
    if match is None:
        raise unauthenticated()
    return match[match.lastindex or 0]


class ServiceKeys:
    """The Verifier of keys that the operator gave to the services themselves. They have no tenant: whoever
    brings one names the tenant that it calls for."""

    def __init__(self, keys: Sequence[str]) -> None:
        self._keys = [key.encode() for key in keys]

    async def verify(self, token: str) -> Identity | None:
        known = [hmac.compare_digest(token.encode(), key) for key in self._keys]
        return Identity("", "service", frozenset({SERVICE}), "service-key") if any(known) else None


class Authentication:
    """An Authenticator that asks its verifiers in turn. `services`: names in certificates of clients that are
    services."""

    def __init__(self, verifiers: Sequence[Verifier], services: Collection[str] = ()) -> None:
        self._verifiers = verifiers
        self._services = frozenset(services)

    async def authenticate(self, metadata: Metadata, method: str, peer: Peer = no_peer) -> Identity:
        brought = given(metadata)
        if not brought.token:
            return self._service(brought.tenant, peer)
        return in_tenant(await self._verified(brought.token), brought.tenant)

    async def _verified(self, token: str) -> Identity:
        for verifier in self._verifiers:
            found = await verifier.verify(token)
            if found is not None:
                return found
        raise unauthenticated()

    def _service(self, tenant: str, peer: Peer) -> Identity:
        name = next((one for one in peer() if one in self._services), "") if self._services else ""
        if not name:
            raise unauthenticated("The call brings no credential.")
        return Identity(tenant, name, frozenset({SERVICE}), f"cert:{name}")


def in_tenant(who: Identity, tenant: str) -> Identity:
    """The identity in the tenant that the call names. A service calls for any tenant; everybody else only for
    the credential's own. Raises Forbidden."""
    if not tenant or tenant == who.tenant_id:
        return who
    if SERVICE not in who.roles:
        text = (
            "The call names another tenant than its credential. Leave it out, or name the credential's own."
        )
        error = Forbidden("FORBIDDEN", text)
        error.tenant_id, error.principal = who.tenant_id, who.principal
        raise error
    return Identity(tenant, who.principal, frozenset({SERVICE}), who.credential)
