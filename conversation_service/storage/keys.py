"""API keys on either engine."""

from datetime import datetime
from typing import Any

from sqlalchemy import func, literal, select, tuple_, update

from conversation_service.domain.keys import ApiKey
from conversation_service.storage.tables import api_key
from kernel.storage.engine import Engines
from kernel.storage.paths import PathReads
from kernel.storage.persons import PersonWrites
from kernel.storage.types import Id, Time
from kernel.verbs.graves import ERASED_NAME
from kernel.verbs.records import Erased


def _key(row: Any) -> ApiKey:
    return ApiKey(
        row["key_id"],
        row["principal"],
        row["role"],
        frozenset(row["scopes"].split()),
        row["title"],
        row["created_by"],
        row["create_time"],
        row["expire_time"],
        row["revoke_time"],
    )


class KeyReads(PathReads):
    async def key(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        row = await self.one(select(api_key).where(self.where(api_key, key_id=key_id)))
        return row and (_key(row), row["digest"])

    async def keys(self, after: tuple[datetime, str] | None, limit: int) -> list[ApiKey]:
        place = tuple_(api_key.c.create_time, api_key.c.key_id)
        query = select(api_key).where(self.where(api_key))
        if after is not None:
            query = query.where(place < tuple_(literal(after[0], Time), literal(after[1], Id)))
        query = query.order_by(api_key.c.create_time.desc(), api_key.c.key_id.desc()).limit(limit)
        return [_key(row) for row in await self.all(query)]


class KeyWrites(KeyReads, PersonWrites):
    async def erase_rest(self, principal: str) -> tuple[Erased, ...]:
        taken = await super().erase_rest(principal)
        revoked = func.coalesce(api_key.c.revoke_time, literal(self._clock(), Time))
        gone = {"principal": ERASED_NAME, "title": "", "revoke_time": revoked}
        theirs = self.where(api_key, principal=principal)
        keys = (await self._run(update(api_key).where(theirs).values(**gone))).rowcount
        made = self.where(api_key, created_by=principal)
        await self._run(update(api_key).where(made).values(created_by=ERASED_NAME))
        return (*taken, Erased("api_key", keys))

    async def insert_key(self, key: ApiKey, digest: bytes) -> None:
        values = {
            "key_id": key.key_id,
            "digest": digest,
            "principal": key.principal,
            "role": key.role,
            "scopes": " ".join(sorted(key.scopes)),
            "title": key.title,
            "created_by": key.created_by,
            "create_time": key.create_time,
            "expire_time": key.expire_time,
        }
        await self._run(self._insert(api_key, values))

    async def revoke_key(self, key_id: str, now: datetime) -> None:
        theirs = self.where(api_key, key_id=key_id, revoke_time=None)
        await self._run(update(api_key).where(theirs).values(revoke_time=now))


class SqlKeyIndex:
    """`conversation_service.app.key_store.KeyIndex`: the one look-up that knows no tenant yet."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines

    async def find(self, digest: bytes) -> tuple[str, ApiKey] | None:
        async with self._engines.reading() as connection:
            found = await connection.execute(select(api_key).where(api_key.c.digest == digest))
            row = found.mappings().one_or_none()
        return None if row is None else (row["tenant_id"], _key(row))
