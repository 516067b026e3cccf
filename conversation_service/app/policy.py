"""Who may do what, by the table of the contract: one question for each kind of call, asked before anything
is read for it. With auth off the one principal is an owner, and a service as well."""

from kernel.errors import Forbidden
from kernel.verbs.env import Caller

OWNER, CONTRIBUTOR, OBSERVER, SERVICE = "owner", "contributor", "observer", "service"


def may_snapshot(caller: Caller) -> None:
    _one_of(caller, SERVICE)


def may_introspect(caller: Caller) -> None:
    _one_of(caller, SERVICE)


def may_stage(caller: Caller, on_behalf_of: str) -> None:
    _one_of(caller, OWNER, CONTRIBUTOR, SERVICE)
    if on_behalf_of:
        _one_of(caller, SERVICE)


def may_see_staged(caller: Caller) -> None:
    _one_of(caller, OWNER, CONTRIBUTOR, OBSERVER, SERVICE)


def may_decide(caller: Caller) -> None:
    """Accept, and reject."""
    _one_of(caller, OWNER)


def may_withdraw(caller: Caller, staged_by: str) -> None:
    if caller.principal != staged_by:
        _one_of(caller, OWNER)


def _one_of(caller: Caller, *roles: str) -> None:
    if caller.roles.isdisjoint(roles):
        raise Forbidden("FORBIDDEN", f"This call is for: {', '.join(roles)}.")
