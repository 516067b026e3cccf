"""What the table of access (`conversation_service.domain.access`) cannot say: it depends on what the request
holds, or on what was found for it."""

from kernel.errors import Forbidden
from kernel.verbs.access import OWNER, RANK, SERVICE
from kernel.verbs.env import Caller


def may_stage(caller: Caller, on_behalf_of: str) -> None:
    """Only a service speaks for somebody else, and it must."""
    if on_behalf_of and SERVICE not in caller.roles:
        raise Forbidden("FORBIDDEN", "Only a service stages on behalf of somebody. Leave on_behalf_of out.")
    if not on_behalf_of and caller.roles.isdisjoint(RANK):
        raise Forbidden("FORBIDDEN", "A service stages on behalf of somebody: set on_behalf_of.")


def may_withdraw(caller: Caller, staged_by: str) -> None:
    """Its author, and an owner."""
    if caller.principal != staged_by and OWNER not in caller.roles:
        raise Forbidden("FORBIDDEN", "Who staged an entry withdraws it, or an owner. Ask one of them.")
