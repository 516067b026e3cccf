"""T2: after DeleteSession its words are in no table and, on SQLite, in no file."""

import pytest

from conversation_service.storage.tables import metadata
from tests.erasure.stage import files_with, tables_with
from tests.projects.stage import on_stage
from tests.projects.test_deletion import SECRET, full_session

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_deleted_words_leave_the_files(migrated_url: str) -> None:
    async with on_stage(migrated_url) as stage:
        session_id = await full_session(stage)
        await stage.caught_up()
        # The index of words keeps them apart.
        word = SECRET.split("-")[1]
        assert files_with(migrated_url, word) or migrated_url.startswith("postgres")
        await stage.call("DeleteSession", session_id=session_id)
        await stage.caught_up()
        await stage.service.service.scrubber.clean()
        assert await tables_with(migrated_url, metadata, word) == []
        assert files_with(migrated_url, word) == []
