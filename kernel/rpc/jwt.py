"""JSON Web Tokens of an issuer that the operator trusts.

A token must be signed under one of the fixed algorithms by a key of the issuer's set, name the issuer and the
audience, and be valid now; the tenant and the principal are claims. Anything else is UNAUTHENTICATED.
"""

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import JoseError

from kernel.rpc.call import SCOPES, SERVICE, TENANT_ROLES, Identity
from kernel.rpc.credentials import unauthenticated
from kernel.rpc.jwks import KeySource

# Signatures with a public key only: a key that everybody may read must never check an HMAC.
ALGORITHMS = ("RS256", "PS256", "ES256", "ES384", "EdDSA", "Ed25519")
# Seconds by which clocks may differ.
LEEWAY = 30
# That a checked signature is taken for good: so long a key that leaves the issuer's set may still serve.
KEPT = 60.0
# Tokens that are remembered; the oldest leave.
_MOST = 10_000
_MAX_NAME = 256


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must say, and under which claims it says it."""

    issuer: str
    audience: str
    algorithms: Sequence[str] = ALGORITHMS
    tenant_claim: str = "tenant"
    principal_claim: str = "sub"
    roles_claim: str = "roles"


class TokenVerifier:
    """A `kernel.rpc.credentials.Verifier`."""

    def __init__(self, rules: TokenRules, keys: KeySource, clock: Callable[[], float] = time.time) -> None:
        self._rules = rules
        self._keys = keys
        self._clock = clock
        # By the token's digest: who it is, and until when that need not be checked again.
        self._known: OrderedDict[bytes, tuple[Identity, float]] = OrderedDict()

    async def verify(self, token: str) -> Identity | None:
        if token.count(".") != 2:
            return None
        digest = hashlib.sha256(token.encode()).digest()
        known = self._known.get(digest)
        if known is not None and self._clock() < known[1]:
            return known[0]
        found, until = await self._checked(token, digest)
        self._known[digest] = found, min(until, self._clock() + KEPT)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return found

    async def _checked(self, token: str, digest: bytes) -> tuple[Identity, float]:
        """With the time from which on it is no longer valid."""
        key_id = self._key_id(token)
        keys = await self._keys.having(key_id)
        if keys is None:
            raise unauthenticated()
        try:
            found = jwt.decode(token, keys, algorithms=list(self._rules.algorithms))
        except (JoseError, ValueError):
            raise unauthenticated() from None
        until = self._check_claims(found.claims)
        return self._identity(found.claims, digest), until

    def _key_id(self, token: str) -> str:
        """Of the header, which nothing has been checked of but its form."""
        try:
            header = jws.extract_compact(token.encode()).headers()
        except (JoseError, ValueError):
            raise unauthenticated() from None
        key_id = header.get("kid", "")
        if header.get("alg") not in self._rules.algorithms or not isinstance(key_id, str):
            raise unauthenticated()
        return key_id

    def _check_claims(self, claims: Mapping[str, Any]) -> float:
        now = self._clock()
        expires: Any = claims.get("exp")
        begins: Any = claims.get("nbf", 0)
        if not _is_time(expires) or not _is_time(begins) or not begins - LEEWAY <= now < expires + LEEWAY:
            raise unauthenticated()
        audiences = claims.get("aud")
        audiences = audiences if isinstance(audiences, list) else [audiences]
        if claims.get("iss") != self._rules.issuer or self._rules.audience not in audiences:
            raise unauthenticated()
        return float(expires + LEEWAY)

    def _identity(self, claims: Mapping[str, Any], digest: bytes) -> Identity:
        tenant: Any = claims.get(self._rules.tenant_claim)
        principal: Any = claims.get(self._rules.principal_claim)
        if not _is_name(tenant) or not _is_name(principal):
            raise unauthenticated()
        roles = _roles(claims.get(self._rules.roles_claim, []))
        return Identity(tenant, principal, roles, f"jwt:{digest.hex()[:32]}")


def _roles(claimed: Any) -> frozenset[str]:
    """Those of ours among the claim's, a list or a text with spaces between; the first tenant-wide role.
    Nobody becomes a service by a token: that is for every tenant, and the operator's to give."""
    several = claimed.split() if isinstance(claimed, str) else claimed
    names = [name for name in several if isinstance(name, str)] if isinstance(several, list) else []
    tenant_wide = [name for name in names if name in TENANT_ROLES][:1]
    return frozenset([*tenant_wide, *(name for name in names if name in SCOPES - {SERVICE})])


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _MAX_NAME and value.isprintable()
