"""Page tokens: where a listing goes on, sealed for one tenant, one method and one query."""

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence

from kernel.errors import Invalid, invalid

MAX_LENGTH = 2_048
_MAC_BYTES = hashlib.sha256().digest_size
_LABEL = b"stemma.page_token.1\0"

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


class PageTokens:
    """Seals and opens page tokens under secret keys: the first one seals, all of them open.

    A token holds the last key of the page before, readable but not changeable. Tenant, method and
    filters are not in it, but in its seal: a token opens for exactly the query that it continues.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) < 32 for key in keys):
            raise ValueError("page tokens need at least one key, of at least 32 bytes each")
        self._keys = tuple(keys)

    def seal(self, tenant: str, method: str, filters: Mapping[str, Json], last: Json) -> str:
        """A token of URL-safe ASCII. `filters` is what of the request decides which items come, and
        in what order: not page_size, not page_token."""
        body = _canonical(last)
        token = base64.urlsafe_b64encode(self._mac(self._keys[0], tenant, method, filters, body) + body)
        if len(token) > MAX_LENGTH:
            raise ValueError("a page token's last key is too long")
        return token.rstrip(b"=").decode()

    def open(self, token: str, tenant: str, method: str, filters: Mapping[str, Json]) -> Json:
        """What was sealed as `last`. Raises Invalid on `page_token` for anything else than a token
        of these keys for this very query."""
        raw = _decode(token)
        mac, body = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
        genuine = [
            hmac.compare_digest(mac, self._mac(key, tenant, method, filters, body)) for key in self._keys
        ]
        if not any(genuine):
            raise _foreign()
        last: Json = json.loads(body)
        return last

    @staticmethod
    def _mac(key: bytes, tenant: str, method: str, filters: Mapping[str, Json], body: bytes) -> bytes:
        # JSON text holds no NUL, so the two parts cannot be shifted against each other.
        query = _canonical([tenant, method, filters])
        return hmac.digest(key, _LABEL + query + b"\0" + body, "sha256")


def _canonical(value: Json) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def _decode(token: str) -> bytes:
    if len(token) > MAX_LENGTH:
        raise _foreign()
    try:
        padded = token.encode("ascii") + b"=" * (-len(token) % 4)
        raw = base64.b64decode(padded, altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        raise _foreign() from None
    # Several texts decode to the same bytes; only the one that was given out is a token.
    if base64.urlsafe_b64encode(raw).rstrip(b"=") != token.encode("ascii"):
        raise _foreign()
    return raw


def _foreign() -> Invalid:
    return invalid("page_token", "is not a token that this listing gave out; begin again without it")
