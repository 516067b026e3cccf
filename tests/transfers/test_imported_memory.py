"""What an imported file remembers is a proposal: it reaches a model only as the project's policy allows."""

from typing import Any

import pytest
import pytest_asyncio
from stemma.kernel.v1 import config_pb2, effects_pb2

from tests.support.client import assistant, text_of, user
from tests.transfers.files import Files

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def files(shared_files: Files) -> Files:
    return shared_files


FACT, OPEN_LOOP = effects_pb2.MEMORY_KIND_FACT, effects_pb2.MEMORY_KIND_OPEN_LOOP


def add(text: str, importance: float, kind: int = FACT) -> dict[str, Any]:
    return {"op": effects_pb2.MEMORY_OP_ADD, "kind": kind, "text": text, "importance": importance}


async def remembering(files: Files) -> str:
    session_id = await files.client.new_session()
    memory = [add("likes tea", 0.9), add("owes a letter", 0.8, OPEN_LOOP), add("was late", 0.1)]
    words = {"input": [user("q")], "output": [assistant("a")], "effects": {"memory": memory}}
    await files.client.call("AppendFloor", session_id=session_id, **words)
    return session_id


async def sent(files: Files, session_id: str) -> tuple[list[str], list[str]]:
    """What is remembered in the context, and why the rest is not."""
    answer = await files.client.call("AssembleContext", session_id=session_id)
    explanation = answer.explanation
    whys = [entry.why for entry in explanation.entries]
    said = [text_of(m) for m, why in zip(answer.messages, whys, strict=True) if why == "memory"]
    return said, [out.why for out in explanation.left_out]


async def test_only_as_the_projects_policy_allows(files: Files) -> None:
    own = await remembering(files)
    assert len((await sent(files, own))[0]) == 3, "what a client writes is no proposal"
    project = (await files.client.call("CreateProject")).project.project_id
    copy = await files.one("stemma", await files.exported(own), project_id=project)
    assert await sent(files, copy) == ([], ["memory_policy"] * 3)
    listed = (await files.client.call("ListMemory", session_id=copy)).memory
    assert [item.trust for item in listed] == ["untrusted_import"] * 3, "it is there to be looked at"

    mask = {"paths": ["config.memoryPolicy"]}
    for mode, said in {
        config_pb2.MEMORY_MODE_OFF: [],
        config_pb2.MEMORY_MODE_PROPOSE: [],
        config_pb2.MEMORY_MODE_AUTO: [
            "Remembered, unverified: likes tea",
            "Still open, unverified: owes a letter",
        ],
    }.items():
        policy = {"mode": mode, "min_importance": 0.5}
        config = {"memory_policy": policy}
        await files.client.call("UpdateProject", project_id=project, config=config, update_mask=mask)
        assert (await sent(files, copy))[0] == said, mode

    vouched = {"memory": [add("is always late", 0.1)]}
    words = {"input": [user("q")], "output": [assistant("a")], "effects": vouched}
    await files.client.call("AppendFloor", session_id=copy, **words)
    assert (await sent(files, copy))[0][-1] == "Remembered: is always late"
