"""ProjectService: the configuration of projects and sessions."""

from typing import Any

from stemma.conversation.v1 import project_service_pb2 as pb

from conversation_service.app import configs as app
from conversation_service.rpc.changes import page_of
from conversation_service.rpc.projects import ProjectMethods, project_field
from kernel.errors import invalid
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import Env
from kernel.verbs.records import ConfigVersion
from kernel.wire.config import config_pb
from kernel.wire.projects import config_version_pb, project_pb
from kernel.wire.requests import caller_of, listing, write_of
from kernel.wire.trees import session_pb


class ConfigMethods:
    def __init__(self, env: Env, tokens: PageTokens) -> None:
        self._env = env
        self._tokens = tokens

    async def get_effective_config(
        self, request: pb.GetEffectiveConfigRequest, call: Call
    ) -> pb.GetEffectiveConfigResponse:
        found = await app.effective_config(self._env, caller_of(call), _target(request))
        return pb.GetEffectiveConfigResponse(
            config=config_pb(found.config), sources=found.sources, version=found.version
        )

    async def list_config_versions(
        self, request: pb.ListConfigVersionsRequest, call: Call
    ) -> pb.ListConfigVersionsResponse:
        target = _target(request)
        page = listing(self._tokens, request, call, {"p": target.project, "s": target.session_id})

        async def fetch(before: int | None, limit: int) -> list[ConfigVersion]:
            return await app.list_versions(self._env, caller_of(call), target, before, limit)

        shown, last = await page_of(page.size, page.last, fetch, lambda v: v.version, config_version_pb)
        token = page.token(last) if last else ""
        return pb.ListConfigVersionsResponse(config_versions=shown, next_page_token=token)

    async def get_config_version(
        self, request: pb.GetConfigVersionRequest, call: Call
    ) -> pb.GetConfigVersionResponse:
        target, version = _target(request), _version(request)
        found = await app.get_version(self._env, caller_of(call), target, version)
        return pb.GetConfigVersionResponse(config_version=config_version_pb(found))

    async def restore_config_version(
        self, request: pb.RestoreConfigVersionRequest, call: Call
    ) -> pb.RestoreConfigVersionResponse:
        write, target, version = write_of(request, call), _target(request), _version(request)
        if request.expected_version < 0:
            raise invalid("expected_version", "must not be negative")
        made, project, session = await app.restore_version(
            self._env, write, target, version, request.expected_version
        )
        return pb.RestoreConfigVersionResponse(
            config_version=config_version_pb(made),
            project=project_pb(project) if project else None,
            session=session_pb(session) if session else None,
        )


class Projects(ProjectMethods, ConfigMethods):
    """ProjectService."""

    def __init__(self, env: Env, providers: Providers, tokens: PageTokens) -> None:
        ProjectMethods.__init__(self, env, providers, tokens)
        ConfigMethods.__init__(self, env, tokens)


def _target(request: Any) -> app.Target:
    project = project_field(request.project_id, required=False)
    session_id = uuid_field(request.session_id, "session_id", required=False)
    if bool(project) == bool(session_id):
        raise invalid("project_id", "or session_id is required, and not both")
    return app.Target(project, session_id)


def _version(request: Any) -> int:
    if request.version < 1:
        raise invalid("version", "is required: a version counts from 1")
    return int(request.version)
