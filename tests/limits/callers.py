"""Callers of several tenants, told apart by a word in the metadata."""

from typing import Any

from kernel.errors import Unauthenticated
from kernel.rpc.call import Identity, Metadata, Peer, no_peer

TENANT = "x-test-tenant"


class ByName:
    """The tenant is the one that the metadata names, `service` a service that calls for any."""

    async def authenticate(self, metadata: Metadata, method: str, peer: Peer = no_peer) -> Identity:
        name = next((str(value) for key, value in metadata if key == TENANT), "")
        if not name:
            raise Unauthenticated("UNAUTHENTICATED", "Name a tenant.")
        roles = frozenset({"service"} if name == "service" else {"owner"})
        return Identity(name, "somebody", roles)


def as_tenant(name: str) -> dict[str, Any]:
    """Options of a call."""
    return {"metadata": ((TENANT, name),)}
