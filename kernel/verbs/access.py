"""Roles, and rules of access: which role a call takes, and where the request says what it is about. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kernel.errors import Forbidden

OBSERVER, CONTRIBUTOR, OWNER = "observer", "contributor", "owner"
ADMIN, SERVICE, INTERNAL_DRAFTS = "admin", "service", "drafts.internal"
# Anybody who is somebody: what comes is what they may see.
ANYBODY = "anybody"
RANK = {OBSERVER: 0, CONTRIBUTOR: 1, OWNER: 2}


@dataclass(frozen=True, slots=True)
class Rule:
    """`needs`: a role, in the project that each of `targets` is in; or a scope; or ANYBODY.

    `targets` are fields of the request, dotted where they are nested, that hold ids; those that are empty say
    nothing. `default`: without any, it is about the tenant's default project. `also`: a scope that is enough
    by itself.
    """

    needs: str
    targets: tuple[str, ...] = ()
    default: bool = False
    also: str = ""

    @property
    def of_tenant(self) -> bool:
        """Whether only what the identity has in its whole tenant counts."""
        return self.needs not in RANK or not (self.targets or self.default)


def enough(roles: frozenset[str], needs: str) -> bool:
    """Whether one of the roles is the one that is needed, or above it; a scope is only itself."""
    if needs == ANYBODY or needs in roles:
        return True
    wanted = RANK.get(needs)
    return wanted is not None and any(RANK.get(role, -1) >= wanted for role in roles)


def forbidden(needs: str) -> Forbidden:
    what = f"the role {needs}" if needs in RANK else f"the scope {needs}"
    return Forbidden("FORBIDDEN", f"This call takes {what}. Ask an owner of the project, or use another key.")


# What an id names, by the last part of the field that holds it.
KINDS: Mapping[str, str] = {
    "project_id": "project",
    "session_id": "session",
    "floor_id": "floor",
    "left_floor_id": "floor",
    "right_floor_id": "floor",
    "page_id": "page",
    "run_id": "run",
    "staged_write_id": "staged write",
    "draft_id": "draft",
}


class AccessReads(Protocol):
    async def role_at(self, kind: str, target_id: str, principal: str) -> str:
        """The principal's role as a member of the project that a thing is in (`KINDS`; not drafts); "" where
        it is none, or there is no such thing: nothing says which, and both take one statement."""

    async def projects_of(self, principal: str, limit: int) -> list[str]:
        """The projects that the principal is a member of, by id."""
