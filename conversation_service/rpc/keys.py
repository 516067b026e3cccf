"""AccessService: API keys."""

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import project_service_pb2

from conversation_service.app import keys as app
from conversation_service.app.key_store import KeyStore
from conversation_service.domain.keys import ApiKey
from conversation_service.rpc.key_verifier import KeyVerifier
from conversation_service.rpc.projects import MAX_PRINCIPAL
from kernel.errors import invalid
from kernel.rpc.call import ADMIN, INTERNAL_DRAFTS, Call
from kernel.rpc.checks import enum_field, text_field, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import Env
from kernel.wire.requests import caller_of, listing, write_of
from kernel.wire.trees import time_pb

MAX_TITLE = 200
ROLES: dict[int, str] = {
    project_service_pb2.MEMBER_ROLE_UNSPECIFIED: "",
    project_service_pb2.MEMBER_ROLE_OBSERVER: "observer",
    project_service_pb2.MEMBER_ROLE_CONTRIBUTOR: "contributor",
    project_service_pb2.MEMBER_ROLE_OWNER: "owner",
}
NUMBERS = {name: number for number, name in ROLES.items()}
# What a tenant's admin may give. A service's identity is for every tenant: only the operator makes one.
_SCOPES = (ADMIN, INTERNAL_DRAFTS)


class Keys:
    """`masters`: see `conversation_service.app.keys.create_key`."""

    def __init__(
        self, env: Env, store: KeyStore, masters: list[bytes], verifier: KeyVerifier, tokens: PageTokens
    ) -> None:
        self._env = env
        self._store = store
        self._masters = masters
        self._verifier = verifier
        self._tokens = tokens

    async def create_api_key(self, request: pb.CreateApiKeyRequest, call: Call) -> pb.CreateApiKeyResponse:
        write, new = write_of(request, call), self._asked(request)
        key, secret = await app.create_key(self._env, self._store, self._masters, write, new)
        return pb.CreateApiKeyResponse(api_key=key_pb(key), secret=secret)

    async def revoke_api_key(self, request: pb.RevokeApiKeyRequest, call: Call) -> pb.RevokeApiKeyResponse:
        write, key_id = write_of(request, call), uuid_field(request.api_key_id, "api_key_id")
        key = await app.revoke_key(self._env, self._store, write, key_id)
        self._verifier.forget(key_id)
        return pb.RevokeApiKeyResponse(api_key=key_pb(key))

    async def list_api_keys(self, request: pb.ListApiKeysRequest, call: Call) -> pb.ListApiKeysResponse:
        page = listing(self._tokens, request, call, {})
        last = (datetime.fromisoformat(page.last[0]), page.last[1]) if page.last else None
        found = await app.list_keys(self._store, caller_of(call), last, page.size + 1)
        shown = found[: page.size]
        token = ""
        if len(found) > page.size:
            token = page.token([shown[-1].create_time.isoformat(), shown[-1].key_id])
        return pb.ListApiKeysResponse(api_keys=map(key_pb, shown), next_page_token=token)

    def _asked(self, request: pb.CreateApiKeyRequest) -> app.NewKey:
        unknown = [scope for scope in request.scopes if scope not in _SCOPES]
        if unknown:
            raise invalid("scopes", f"only {', '.join(_SCOPES)} can be given")
        return app.NewKey(
            text_field(request.principal, "principal", maximum=MAX_PRINCIPAL, required=True),
            ROLES[enum_field(request.role, project_service_pb2.MemberRole, "role", 0)],
            frozenset(request.scopes),
            text_field(request.title, "title", maximum=MAX_TITLE),
            self._expiry(request.expire_time) if request.HasField("expire_time") else None,
        )

    def _expiry(self, stamp: Timestamp) -> datetime:
        try:
            found = stamp.ToDatetime(UTC)
        except (ValueError, OverflowError):
            raise invalid("expire_time", "is not a time of the years 1 to 9999") from None
        return found


def key_pb(key: ApiKey) -> pb.ApiKey:
    return pb.ApiKey(
        api_key_id=key.key_id,
        principal=key.principal,
        role=project_service_pb2.MemberRole.Name(NUMBERS[key.role]),
        scopes=sorted(key.scopes),
        title=key.title,
        created_by=key.created_by,
        create_time=time_pb(key.create_time),
        expire_time=time_pb(key.expire_time),
        revoke_time=time_pb(key.revoke_time),
    )
