"""API keys on the database itself, for `stemma keys` and `stemma up`: a tenant's first key is made by whoever
has the database, since nobody can be let in who might make it.

Checked, recorded and audited as the RPCs are, under the principal `operator`.
"""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

from stemma.conversation.v1 import access_service_pb2 as pb

from conversation_service.migrate import SCRIPTS
from conversation_service.rpc.key_verifier import KeyVerifier
from conversation_service.rpc.keys import Keys
from conversation_service.settings import Settings, secret_keys
from conversation_service.storage.keys import SqlKeyIndex
from conversation_service.storage.store import ConversationStore
from kernel.clock import new_uuid7, utc_now
from kernel.generation.hub import RunHub
from kernel.rpc.call import ADMIN, Call, Identity
from kernel.rpc.tokens import PageTokens
from kernel.runs.control import HubRuns
from kernel.storage.engine import Engines
from kernel.storage.migrate import migrate
from kernel.verbs.env import Env
from kernel.wire.codec import WireCodec

OPERATOR = "operator"
_SERVICE = pb.DESCRIPTOR.services_by_name["AccessService"].full_name


@dataclass(frozen=True, slots=True)
class KeysByHand:
    """The keys of one tenant. Raises kernel.errors.StemmaError as the RPCs answer."""

    keys: Keys
    tenant_id: str

    async def create(self, request: pb.CreateApiKeyRequest) -> pb.CreateApiKeyResponse:
        return await self.keys.create_api_key(request, self._call("CreateApiKey"))

    async def list(self, request: pb.ListApiKeysRequest) -> pb.ListApiKeysResponse:
        return await self.keys.list_api_keys(request, self._call("ListApiKeys"))

    async def revoke(self, request: pb.RevokeApiKeyRequest) -> pb.RevokeApiKeyResponse:
        return await self.keys.revoke_api_key(request, self._call("RevokeApiKey"))

    def _call(self, method: str) -> Call:
        who = Identity(self.tenant_id, OPERATOR, frozenset({ADMIN}), "database")
        return Call(who, new_uuid7(), f"/{_SERVICE}/{method}", time.monotonic() + 60.0)


@asynccontextmanager
async def keys_by_hand(
    settings: Settings, tenant_id: str, clock: Callable[[], datetime] = utc_now
) -> AsyncIterator[KeysByHand]:
    """On the newest schema; a SQLite file must not be in use. Raises BadSettings, and as `migrate` does."""
    masters = secret_keys(settings)
    engines = Engines(settings.database_url)
    try:
        engines.hold()
        await migrate(engines, SCRIPTS)
        store, codec = ConversationStore(engines, clock), WireCodec()
        env = Env(store, HubRuns(RunHub(), codec), codec, clock, new_uuid7)
        verifier = KeyVerifier(SqlKeyIndex(engines), clock)
        yield KeysByHand(Keys(env, store, masters, verifier, PageTokens(masters)), tenant_id)
        await store.idle()
    finally:
        await engines.close()
