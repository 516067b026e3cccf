"""The draft service's own credential: nothing that runs in a draft leads to it (D6)."""

import pytest

from draft_service.clients.conversation import Conversation
from draft_service.clients.introspection import Introspection
from kernel.generation.lease import Lease
from kernel.generation.runner import RunLimits
from kernel.prompt.config import Config
from tests.access.stage import SERVICE_KEY, AccessStage
from tests.drafts.test_guard import reachable

pytestmark = pytest.mark.asyncio(loop_scope="session")


def leads_to(root: object) -> set[str]:
    found = set()
    for one in reachable(root):
        if isinstance(one, Conversation | Introspection):
            found.add(type(one).__name__)
        if isinstance(one, str | bytes) and SERVICE_KEY in (
            one if isinstance(one, str) else one.decode("latin-1")
        ):
            found.add("the key")
    return found


async def test_no_reference_leads_from_a_run_to_the_services_credential(stage: AccessStage) -> None:
    service = stage.draft.service
    lease = Lease("acme", "r", "s", "o", 1)
    assert leads_to(service.generation.tools(service.world.env, lease, Config(), RunLimits())) == set()
    assert leads_to(service.generation) == set()
    # The walk finds them where they are.
    assert leads_to(service.world) >= {"Conversation", "Introspection", "the key"}
