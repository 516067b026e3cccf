"""Which processes are alive, so that another can end the runs of one that is gone.

Each process renews the lease of its own row. On SQLite there is one process, so whatever another
left is dead at once; on PostgreSQL a lease is judged by the database's clock.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql

from kernel.storage import tables as t
from kernel.storage.engine import Engines

LEASE = timedelta(seconds=10)


class Processes:
    def __init__(self, engines: Engines, owner: str) -> None:
        self._engines = engines
        self._owner = owner

    async def renew(self) -> None:
        """Says that this process lives, for another lease."""
        if self._engines.dialect == "sqlite":
            return
        insert = postgresql.insert(t.process).values(
            owner=self._owner, lease_time=func.clock_timestamp() + LEASE
        )
        insert = insert.on_conflict_do_update(
            index_elements=["owner"], set_={"lease_time": insert.excluded.lease_time}
        )
        async with self._engines.writing() as connection:
            await connection.execute(insert)

    async def orphaned_runs(self) -> list[tuple[str, str]]:
        """(tenant, run id) of running runs whose process is gone."""
        query = select(t.run.c.tenant_id, t.run.c.run_id).where(t.run.c.state == "running")
        query = query.where(t.run.c.owner != self._owner)
        if self._engines.dialect == "postgresql":
            alive = select(t.process.c.owner).where(t.process.c.lease_time > func.clock_timestamp())
            query = query.where(t.run.c.owner.not_in(alive))
        async with self._engines.reading() as connection:
            return [(row.tenant_id, row.run_id) for row in await connection.execute(query)]

    async def own_runs(self) -> list[tuple[str, str]]:
        """(tenant, run id) of the running runs of this process, as the database has them."""
        query = select(t.run.c.tenant_id, t.run.c.run_id)
        query = query.where(t.run.c.state == "running", t.run.c.owner == self._owner)
        async with self._engines.reading() as connection:
            return [(row.tenant_id, row.run_id) for row in await connection.execute(query)]

    async def leave(self) -> None:
        """Gives the lease back: what this process left running is anyone's to end."""
        if self._engines.dialect == "sqlite":
            return
        async with self._engines.writing() as connection:
            await connection.execute(delete(t.process).where(t.process.c.owner == self._owner))
