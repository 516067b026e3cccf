"""API keys: what one is, how it looks, and what of it is kept."""

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime

PREFIX = "stk_"
SECRET_BYTES = 32
# `stk_` and 32 bytes in URL-safe base64 without padding.
LENGTH = len(PREFIX) + 43
_LABEL = b"stemma.api_key.1\0"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept, which is without its secret. `role` is "" where the projects' members decide;
    times without a value are None."""

    key_id: str
    principal: str
    role: str
    scopes: frozenset[str]
    title: str
    created_by: str
    create_time: datetime
    expire_time: datetime | None = None
    revoke_time: datetime | None = None

    def valid(self, now: datetime) -> bool:
        return self.revoke_time is None and (self.expire_time is None or now < self.expire_time)


def random_secret() -> str:
    return _text(secrets.token_bytes(SECRET_BYTES))


def secret_for(master: bytes, tenant_id: str, principal: str, request_id: str) -> str:
    """The secret that a request makes, which a repeat of it makes again (R1), so that it is kept nowhere. As
    random as `master`, which nobody outside the service knows."""
    asked = "\0".join((tenant_id, principal, request_id)).encode()
    return _text(hmac.digest(hmac.digest(master, _LABEL, "sha256"), asked, "sha256"))


def looks_like_one(token: str) -> bool:
    return token.startswith(PREFIX) and len(token) == LENGTH


def digest(secret: str) -> bytes:
    """What is kept of it. 256 random bits need no slow hash: there is nothing to guess."""
    return hashlib.sha256(secret.encode()).digest()


def _text(raw: bytes) -> str:
    return PREFIX + base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
