"""StateService."""

from stemma.conversation.v1 import state_service_pb2 as pb
from stemma.kernel.v1 import effects_pb2, state_pb2

from conversation_service.app import state as app
from conversation_service.rpc.projects import project_field
from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, enum_field, uuid_field
from kernel.rpc.tokens import Json, PageTokens
from kernel.state.model import Scope, Variable
from kernel.verbs.env import MAIN, Env
from kernel.wire.effects import live_values, memory_item_pb, slots_pb, variable_pb
from kernel.wire.requests import caller_of, listing, write_of

_PAGE_BYTES = 3 * 1024 * 1024


class States:
    def __init__(self, env: Env, tokens: PageTokens) -> None:
        self._env = env
        self._tokens = tokens

    async def get_state(self, request: pb.GetStateRequest, call: Call) -> pb.GetStateResponse:
        project, session_id = _owner(request)
        if project:
            if request.branch or request.floor_id:
                raise invalid("branch", "and floor_id are a session's")
            found, as_of = await app.get_project_state(self._env, caller_of(call), project), ""
        else:
            branch, floor_id = _at(request)
            end, found = await app.get_state(self._env, caller_of(call), session_id, branch, floor_id)
            as_of = end.floor_id
        return pb.GetStateResponse(
            variables=[variable_pb(variable) for variable in found.variables],
            memory=[memory_item_pb(item) for item in found.memory],
            slots=slots_pb(sorted(found.state.slots.items())),
            as_of_floor_id=as_of,
            live_version=found.live_version,
            session_version=found.session_version,
            project_version=found.project_version,
        )

    async def write_state(self, request: pb.WriteStateRequest, call: Call) -> pb.WriteStateResponse:
        write = write_of(request, call)
        project, session_id = _owner(request)
        scope = Scope.PROJECT if project else Scope.SESSION
        if request.expected_version < 0:
            raise invalid("expected_version", "must not be negative")
        values = live_values(request.variables, scope)
        ask = app.LiveWrite(project, session_id, values, request.expected_version)
        version = await app.write_state(self._env, write, ask)
        written = [
            Variable(scope, key, value, version=version)
            for key, value in sorted(values.items())
            if value is not None
        ]
        return pb.WriteStateResponse(variables=[variable_pb(v) for v in written], version=version)

    async def list_memory(self, request: pb.ListMemoryRequest, call: Call) -> pb.ListMemoryResponse:
        session_id = uuid_field(request.session_id, "session_id")
        branch, floor_id = _at(request)
        kind = enum_field(request.kind, effects_pb2.MemoryKind, "kind", 0)
        filters: dict[str, Json] = {
            "s": session_id,
            "b": branch,
            "f": floor_id,
            "k": kind,
            "d": request.include_deprecated,
        }
        page = listing(self._tokens, request, call, filters)
        # Where the last page ended: the floor that it was about, and how many items came before.
        at, seen = page.last or (floor_id, 0)
        end, found = await app.get_state(self._env, caller_of(call), session_id, branch, at)
        items = found.state.memory.values() if request.include_deprecated else found.memory
        later = [item for item in items if kind in (0, item.kind)][seen:]
        shown: list[state_pb2.MemoryItem] = []
        size = 0
        for item in later[: page.size]:
            message = memory_item_pb(item)
            size += message.ByteSize()
            if size > _PAGE_BYTES and shown:
                break
            shown.append(message)
        more = len(shown) < len(later)
        return pb.ListMemoryResponse(
            memory=shown,
            next_page_token=page.token([end.floor_id, seen + len(shown)]) if more else "",
            as_of_floor_id=end.floor_id,
        )


def _owner(request: pb.GetStateRequest | pb.WriteStateRequest) -> tuple[str, str]:
    project = project_field(request.project_id, required=False)
    session_id = uuid_field(request.session_id, "session_id", required=False)
    if bool(project) == bool(session_id):
        raise invalid("session_id", "or project_id is required, and not both")
    return project, session_id


def _at(request: pb.GetStateRequest | pb.ListMemoryRequest) -> tuple[str, str]:
    floor_id = uuid_field(request.floor_id, "floor_id", required=False)
    if floor_id and request.branch:
        raise invalid("floor_id", "not together with branch")
    return branch_name(request.branch, MAIN), floor_id
