"""Who may do what with a draft: asked at each RPC. With auth off, everybody is one principal."""

from draft_service.domain.draft import Draft, Visibility
from kernel.errors import NotFound
from kernel.verbs.env import Caller


def may_see(caller: Caller, draft: Draft) -> bool:
    """An internal draft does not exist for others than its creator."""
    return draft.visibility is not Visibility.INTERNAL or draft.created_by == caller.principal


def check_seen(caller: Caller, draft: Draft | None) -> Draft:
    """The draft; NOT_FOUND for one that is not there, or not for this caller: nothing says which (R6)."""
    if draft is None or not may_see(caller, draft):
        raise NotFound("draft")
    return draft
