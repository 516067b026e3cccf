"""What the tests of the search share."""

from typing import Any

from stemma.conversation.v1 import floor_service_pb2 as pb

from tests.projects.stage import Stage

PATH, ALL = pb.SEARCH_SCOPE_PATH, pb.SEARCH_SCOPE_ALL


async def indexed(stage: Stage) -> None:
    """Until everything that is committed is in the index."""
    await stage.service.service.following.indexer.caught_up()


async def hits(stage: Stage, query: str, *, scope: int = ALL, **fields: Any) -> list[pb.SearchHit]:
    """All of them, page by page, once the index is complete; in a session or in the default project."""
    await indexed(stage)
    if "session_id" not in fields:
        fields.setdefault("project_id", "default")
    return await stage.client.everything("SearchMessages", "hits", query=query, scope=scope, **fields)


async def found(stage: Stage, query: str, **fields: Any) -> list[str]:
    """The ids of the hits' floors."""
    return [hit.floor_id for hit in await hits(stage, query, **fields)]
