"""Secrets that are kept for a tenant: sealed before they are stored, opened where they are used."""

import base64
import binascii
import hmac
import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_LABEL = b"stemma.secret.1\0"
_PREFIX = "s1."
_NONCE_BYTES = 12


class CannotOpen(Exception):
    """Not sealed under any of these keys for this tenant, or changed since."""


class Seals:
    """AES-256-GCM under keys of their own, derived from STEMMA_SECRET_KEY: the first one seals, all of them
    open, so that a key can be replaced while what it sealed is still there. What is sealed for one tenant
    opens for no other."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) < 32 for key in keys):
            raise ValueError("sealing needs at least one key, of at least 32 bytes each")
        # Page tokens are signed with the same secrets: neither use must say anything about the other.
        self._ciphers = [AESGCM(hmac.digest(key, _LABEL, "sha256")) for key in keys]

    def seal(self, tenant: str, text: str) -> str:
        """Printable ASCII, another one each time, about a third longer than the text."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._ciphers[0].encrypt(nonce, text.encode(), _bound_to(tenant))
        return _PREFIX + base64.urlsafe_b64encode(nonce + sealed).decode()

    def open(self, tenant: str, sealed: str) -> str:
        """Raises: CannotOpen."""
        try:
            raw = base64.b64decode(sealed.removeprefix(_PREFIX), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise CannotOpen from None
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], _bound_to(tenant)).decode()
            except (InvalidTag, ValueError):
                # Another key's, or too short to be anything.
                continue
        raise CannotOpen


def _bound_to(tenant: str) -> bytes:
    return _LABEL + tenant.encode()
