"""The draft database's migrations make the schema that the code expects."""

from collections.abc import Iterator

import pytest

from draft_service.storage.tables import metadata
from kernel.storage import tables as kernel
from kernel.storage.engine import Engines
from tests.conformance.schemas import schema
from tests.conftest import DatabaseFactory


@pytest.fixture
def empty_url(engine: str, database_factory: DatabaseFactory) -> Iterator[str]:
    with database_factory(engine, migrated=False) as url:
        yield url


async def test_the_migrated_schema_is_the_one_of_the_code(draft_url: str, empty_url: str) -> None:
    engines = Engines(empty_url)
    try:
        async with engines.writing() as connection:
            await connection.run_sync(metadata.create_all)
    finally:
        await engines.close()
    found = await schema(draft_url)
    assert found == await schema(empty_url)
    assert all(table in repr(found) for table in metadata.tables), "the comparison sees every table"


def test_every_table_of_the_kernel_is_there() -> None:
    assert set(kernel.metadata.tables) < set(metadata.tables)
