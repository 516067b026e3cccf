"""Graves: a principal whose data was erased, and that writes nothing more, under whatever request id (T2)."""

from functools import lru_cache
from hashlib import sha256

from kernel.errors import Forbidden

# In the place of the name of somebody who was erased.
ERASED_NAME = "~erased"


@lru_cache(maxsize=4096)
def grave_of(tenant_id: str, principal: str) -> bytes:
    """How a grave knows its principal without the name."""
    return sha256(b"stemma.grave.1" + tenant_id.encode() + b"\0" + principal.encode()).digest()


def buried() -> Forbidden:
    return Forbidden(
        "FORBIDDEN", "This principal's data was erased: it writes nothing more. Use another one."
    )
