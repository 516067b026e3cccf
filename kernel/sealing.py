"""Secrets that are kept for a tenant: sealed before they are stored, opened where they are used."""

import base64
import binascii
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_LABEL = b"stemma.secret.1\0"
_PREFIX = "s1."
_NONCE_BYTES = 12


# A key in a configuration's text: by itself, or in a text that holds it as a text, with its quotes escaped.
# Whether it is one is not guessed from this: it is what opens.
_SEALED_KEY = re.compile(r'(?<=api_key)(\\*":\s?\\*")(s1\.[A-Za-z0-9_=-]{40,})')


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

    @property
    def several(self) -> bool:
        """Whether there is a key that opens and does not seal any more."""
        return len(self._ciphers) > 1

    def open(self, tenant: str, sealed: str) -> str:
        """Raises: CannotOpen."""
        return self._opened(tenant, sealed)[0]

    def resealed(self, tenant: str, sealed: str) -> str:
        """The same secret under the first key: unchanged when it is. Raises: CannotOpen."""
        text, number = self._opened(tenant, sealed)
        return self.seal(tenant, text) if number else sealed

    def _opened(self, tenant: str, sealed: str) -> tuple[str, int]:
        """And the number of the key that opens it."""
        try:
            raw = base64.b64decode(sealed.removeprefix(_PREFIX), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise CannotOpen from None
        for number, cipher in enumerate(self._ciphers):
            try:
                text = cipher.decrypt(raw[:_NONCE_BYTES], raw[_NONCE_BYTES:], _bound_to(tenant)).decode()
                return text, number
            except (InvalidTag, ValueError):
                # Another key's, or too short to be anything.
                continue
        raise CannotOpen


def _bound_to(tenant: str) -> bytes:
    return _LABEL + tenant.encode()


@dataclass(frozen=True, slots=True)
class ResealedText:
    """A text with its keys under the newest key of the server. `changed`: how many were under an older one;
    `unreadable`: how many no key opens, which stay as they are."""

    text: str
    changed: int = 0
    unreadable: int = 0


def resealed_text(seals: Seals, tenant: str, text: str) -> ResealedText:
    """For any text that holds configurations. All but the sealed keys stays to the letter."""
    changed = unreadable = 0

    def again(found: re.Match[str]) -> str:
        nonlocal changed, unreadable
        try:
            sealed = seals.resealed(tenant, found[2])
        except CannotOpen:
            unreadable += 1
            return found[0]
        changed += sealed != found[2]
        return found[1] + sealed

    return ResealedText(_SEALED_KEY.sub(again, text), changed, unreadable)
