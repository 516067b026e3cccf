"""Asks the table of access for each call: `kernel.rpc.policy.Policy` of this service."""

from collections.abc import Callable

from google.protobuf.message import Message

from conversation_service.app.projects import project_id_of
from conversation_service.domain.access import RULES
from conversation_service.rpc.projects import project_field
from kernel.errors import NotFound
from kernel.rpc.call import Identity
from kernel.verbs.access import ANYBODY, OBSERVER, RANK, Rule, enough, forbidden
from kernel.verbs.store import Store
from kernel.wire.targets import targets


class Permits:
    def __init__(self, store: Store) -> None:
        self._store = store

    def knows(self, method: str) -> bool:
        return _name(method) in RULES

    async def permit(self, who: Identity, method: str, request: Message) -> frozenset[str]:
        rule = RULES[_name(method)]
        if enough(who.roles, rule.needs) and rule.needs != ANYBODY:
            return frozenset()
        if rule.also and rule.also in who.roles:
            return frozenset()
        if rule.of_tenant and rule.needs != ANYBODY:
            raise forbidden(rule.needs)
        if enough(who.roles, OBSERVER):
            # Tenant-wide, so nothing is hidden; and what is needed is more, or to be anybody.
            if rule.needs == ANYBODY:
                return frozenset()
            raise forbidden(rule.needs)
        return await self._as_member(who, rule, request)

    async def _as_member(self, who: Identity, rule: Rule, request: Message) -> frozenset[str]:
        """By the lowest of the roles that the caller has in what the request names."""
        needs = OBSERVER if rule.needs == ANYBODY else rule.needs
        roles = []
        async with self._store.reading(who.tenant_id) as tx:
            for kind, target_id in targets(rule, request, _project_in(who.tenant_id)):
                role = await tx.role_at(kind, target_id, who.principal)
                if not role:
                    raise NotFound(kind)
                roles.append(role)
        lowest = min(roles, key=RANK.__getitem__, default="")
        if lowest and not enough(frozenset({lowest}), needs):
            raise forbidden(needs)
        return frozenset({lowest}) if lowest else frozenset()


def _project_in(tenant_id: str) -> Callable[[str], str]:
    def project(given: str) -> str:
        return project_id_of(tenant_id, project_field(given) if given else "")

    return project


def _name(method: str) -> str:
    return method.rpartition("/")[2]
