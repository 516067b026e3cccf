"""Asks the table of access for each call: `kernel.rpc.policy.Policy` of this service.

A draft is here, with its author; what somebody is in its project, and in what the draft comes from or goes
to, the conversation service knows.
"""

from typing import Protocol

from google.protobuf.message import Message

from draft_service.app.store import Store
from draft_service.domain.access import RULES
from draft_service.domain.policy import check_seen
from kernel.errors import Forbidden, NotFound
from kernel.rpc.call import Identity
from kernel.verbs.access import ANYBODY, OBSERVER, OWNER, RANK, SERVICE, Rule, enough, forbidden
from kernel.verbs.env import Caller
from kernel.wire.targets import targets


class Roles(Protocol):
    async def role(self, tenant_id: str, principal: str, kind: str, target_id: str) -> str:
        """What a principal is as a member of the project that a thing is in (a project, a session, a floor);
        "" for none, and where there is no such thing. Raises Unavailable when that is not known."""


class Permits:
    def __init__(self, store: Store, roles: Roles) -> None:
        self._store = store
        self._roles = roles

    def knows(self, method: str) -> bool:
        return _name(method) in RULES

    async def permit(self, who: Identity, method: str, request: Message) -> frozenset[str]:
        rule = RULES[_name(method)]
        if rule.needs == ANYBODY or rule.needs in who.roles - RANK.keys() or _owns(who, rule):
            return frozenset()
        if rule.of_tenant:
            raise forbidden(rule.needs)
        granted = frozenset[str]()
        for kind, target_id in targets(rule, request, str):
            if kind == "draft":
                granted = await self._in_draft(who, target_id, rule.needs)
            else:
                what = "target" if any(path.startswith("target.") for path in rule.targets) else "source"
                await self._elsewhere(who, kind, target_id, rule.needs, what)
        return granted

    async def _in_draft(self, who: Identity, draft_id: str, needs: str) -> frozenset[str]:
        caller = Caller(who.tenant_id, who.principal, who.roles)
        async with self._store.reading(who.tenant_id) as tx:
            draft = check_seen(caller, await tx.draft(draft_id))
        role = await self._role(who, "project", draft.source.project_id)
        if not role:
            raise NotFound("draft")
        own = draft.created_by == who.principal
        roles = frozenset({role})
        if not enough(roles, needs):
            raise forbidden(needs)
        if needs != OBSERVER and not own and not enough(roles, OWNER):
            raise Forbidden(
                "FORBIDDEN", "The draft is somebody else's. Ask them, or an owner of the project."
            )
        return roles

    async def _elsewhere(self, who: Identity, kind: str, target_id: str, needs: str, what: str) -> None:
        role = await self._role(who, kind, target_id)
        if not role:
            raise NotFound(what)
        if not enough(frozenset({role}), needs):
            raise forbidden(needs)

    async def _role(self, who: Identity, kind: str, target_id: str) -> str:
        """What the identity is in its whole tenant, else as a member. A service is nobody's."""
        if SERVICE in who.roles:
            return ""
        everywhere = next((role for role in who.roles if role in RANK), "")
        return everywhere or await self._roles.role(who.tenant_id, who.principal, kind, target_id)


def _owns(who: Identity, rule: Rule) -> bool:
    """An owner of all that the tenant has, for a rule of roles. (What is internal, its handler hides.)"""
    return rule.needs in RANK and OWNER in who.roles


def _name(method: str) -> str:
    return method.rpartition("/")[2]
