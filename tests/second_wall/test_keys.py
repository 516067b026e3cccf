"""The second wall: no row can refer to another tenant's, since every key begins with the tenant (R6)."""

import pytest
from sqlalchemy import MetaData, UniqueConstraint, inspect

from conversation_service.storage.tables import metadata as canon_tables
from draft_service.storage.tables import metadata as draft_tables
from kernel.storage.engine import Engines

TENANT = "tenant_id"
# Tables that hold nobody's data.
NOBODYS = {"process": "which processes are alive"}
# Unique in the whole database, and why.
GLOBAL = {"api_key_digest_uq": "a call's tenant is found by its key"}
BOTH = pytest.mark.parametrize("tables", [canon_tables, draft_tables], ids=["conversation", "drafts"])


@BOTH
def test_every_key_begins_with_the_tenant(tables: MetaData) -> None:
    without = {table.name for table in tables.sorted_tables if TENANT not in table.c}
    assert without == set(NOBODYS)
    for table in tables.sorted_tables:
        if table.name in NOBODYS:
            continue
        assert not table.c[TENANT].nullable, table.name
        assert next(iter(table.primary_key)).name == TENANT, table.name
        for one in table.constraints:
            if isinstance(one, UniqueConstraint) and one.name not in GLOBAL:
                assert next(iter(one.columns)).name == TENANT, one.name
        for index in table.indexes:
            assert not index.unique or next(iter(index.columns)).name == TENANT, index.name


@BOTH
def test_every_reference_is_within_a_tenant(tables: MetaData) -> None:
    count = 0
    for table in tables.sorted_tables:
        for key in table.foreign_key_constraints:
            pairs = {(one.parent.name, one.column.name) for one in key.elements}
            assert (TENANT, TENANT) in pairs, f"{table.name}: {key.name}"
            count += 1
    assert count > 15


async def test_so_it_is_in_the_database(migrated_url: str) -> None:
    """What migrations made, not what is declared."""
    engines = Engines(migrated_url)
    try:
        async with engines.reading() as connection:
            found = await connection.run_sync(
                lambda sync: {
                    name: inspect(sync).get_foreign_keys(name) for name in inspect(sync).get_table_names()
                }
            )
    finally:
        await engines.close()
    keys = [key for of_table in found.values() for key in of_table]
    assert len(keys) > 15
    for key in keys:
        place = key["constrained_columns"].index(TENANT)
        assert key["referred_columns"][place] == TENANT, key
