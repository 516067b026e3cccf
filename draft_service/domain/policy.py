"""Whether a draft exists for somebody. With auth off, everybody is one principal."""

from draft_service.domain.draft import Draft, Visibility
from kernel.errors import NotFound
from kernel.verbs.access import INTERNAL_DRAFTS
from kernel.verbs.env import Caller


def may_see(caller: Caller, draft: Draft) -> bool:
    """An internal draft does not exist for others than its creator, but with the scope for it."""
    if draft.visibility is not Visibility.INTERNAL or draft.created_by == caller.principal:
        return True
    return INTERNAL_DRAFTS in caller.roles


def check_seen(caller: Caller, draft: Draft | None) -> Draft:
    """The draft; NOT_FOUND for one that is not there, or not for this caller: nothing says which (R6)."""
    if draft is None or not may_see(caller, draft):
        raise NotFound("draft")
    return draft
