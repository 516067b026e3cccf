"""API keys: made, listed and ended through the service or on its database."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from stemma.conversation.v1 import access_service_pb2 as pb
from stemma.conversation.v1 import project_service_pb2

from stemma_cli.calls.base import PAGE, new_request_id
from stemma_cli.client import Client, connect
from stemma_cli.commands.migrate import Database
from stemma_cli.databases import told
from stemma_cli.errors import CliError, UsageError

LOCAL = "local"
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_OPTION = "--database-url, or STEMMA_CONVERSATION_DATABASE_URL,"


class Keys(Protocol):
    """The keys of one tenant."""

    def create(self, request: pb.CreateApiKeyRequest) -> pb.CreateApiKeyResponse: ...

    def all(self) -> pb.ListApiKeysResponse: ...

    def revoke(self, key_id: str) -> pb.RevokeApiKeyResponse: ...


def asked(
    principal: str, role: str, scopes: Sequence[str], title: str, expires: str
) -> pb.CreateApiKeyRequest:
    """Raises UsageError."""
    request = pb.CreateApiKeyRequest(
        request_id=new_request_id(), principal=principal, scopes=scopes, title=title
    )
    if role:
        request.role = getattr(project_service_pb2, f"MEMBER_ROLE_{role.upper()}")
    if expires:
        match = re.fullmatch(r"([1-9][0-9]{0,4})([dhm])", expires)
        if match is None:
            raise UsageError("--expires is a number and d, h or m: 30d is thirty days.")
        request.expire_time.FromDatetime(datetime.now(UTC) + timedelta(**{_UNITS[match[2]]: int(match[1])}))
    return request


@contextmanager
def keys_at(address: str, direct: bool, tenant: str, database_url: str) -> Iterator[Keys]:
    """Through the service at `address`, which knows a key's tenant; on a database with `direct`, or when its
    URL or a tenant is named."""
    if direct or tenant or database_url:
        yield _Direct(tenant or LOCAL, Path(os.environ.get("STEMMA_DATA") or "data"), database_url)
        return
    with connect(address) as client:
        yield _Served(client)


class _Served:
    def __init__(self, client: Client) -> None:
        self._client = client

    def create(self, request: pb.CreateApiKeyRequest) -> pb.CreateApiKeyResponse:
        return self._client.create_api_key(request)

    def all(self) -> pb.ListApiKeysResponse:
        return _joined(self._client.list_api_keys)

    def revoke(self, key_id: str) -> pb.RevokeApiKeyResponse:
        request = pb.RevokeApiKeyRequest(request_id=new_request_id(), api_key_id=key_id)
        return self._client.revoke_api_key(request)


class _Direct:
    """One connection for each deed."""

    def __init__(self, tenant: str, data: Path, database_url: str) -> None:
        self._place = tenant, data, database_url

    def create(self, request: pb.CreateApiKeyRequest) -> pb.CreateApiKeyResponse:
        return self._done(lambda keys: keys.create(request))  # type: ignore[no-any-return]

    def all(self) -> pb.ListApiKeysResponse:
        def one(request: pb.ListApiKeysRequest) -> pb.ListApiKeysResponse:
            return self._done(lambda keys: keys.list(request))  # type: ignore[no-any-return]

        return _joined(one)

    def revoke(self, key_id: str) -> pb.RevokeApiKeyResponse:
        request = pb.RevokeApiKeyRequest(request_id=new_request_id(), api_key_id=key_id)
        return self._done(lambda keys: keys.revoke(request))  # type: ignore[no-any-return]

    def _done(self, deed: Callable[[Any], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            async with by_hand(*self._place) as keys:
                return await deed(keys)

        return asyncio.run(run())


@asynccontextmanager
async def by_hand(tenant: str, data: Path, database_url: str = "") -> AsyncIterator[Any]:
    """`conversation_service.by_hand.KeysByHand` of the settings' database. Raises CliError."""
    from conversation_service.by_hand import keys_by_hand
    from conversation_service.settings import BadSettings

    given = {"conversation_database_url": database_url} if database_url else {}
    try:
        with told("The conversation database", _OPTION):
            async with keys_by_hand(_settings(Database.CONVERSATION, data, given), tenant) as keys:
                yield keys
    except BadSettings as error:
        raise CliError(str(error)) from None


def _settings(database: Database, data: Path, given: dict[str, str]) -> Any:
    from pydantic import ValidationError

    from conversation_service.settings import Settings, explained
    from draft_service.settings import Settings as DraftSettings

    kind: Any = DraftSettings if database is Database.DRAFT else Settings
    try:
        return kind(data=data, **given)
    except ValidationError as error:
        raise CliError(explained(error)) from None


def _joined(page: Callable[[pb.ListApiKeysRequest], pb.ListApiKeysResponse]) -> pb.ListApiKeysResponse:
    """All pages as one."""
    whole, request = pb.ListApiKeysResponse(), pb.ListApiKeysRequest(page_size=PAGE)
    while True:
        answer = page(request)
        whole.api_keys.extend(answer.api_keys)
        if not answer.next_page_token:
            return whole
        request.page_token = answer.next_page_token


async def resealed(data: Path, databases: Sequence[Database]) -> dict[str, dict[str, int]]:
    """By database: secrets that were brought under the newest key, and those that no key opens. Raises
    CliError."""
    import conversation_service.resealing
    import conversation_service.settings
    import draft_service.resealing
    import draft_service.settings

    found = {}
    for database in databases:
        service = draft_service if database is Database.DRAFT else conversation_service
        settings = _settings(database, data, {})
        try:
            with told(f"The {database} database", f"STEMMA_{database.upper()}_DATABASE_URL"):
                keys = service.settings.secret_keys(settings)
                done = await service.resealing.reseal(settings.database_url, keys)
        except service.settings.BadSettings as error:
            raise CliError(str(error)) from None
        found[database.value] = {"changed": done.changed, "unreadable": done.unreadable}
    return found
