"""SessionService."""

from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.kernel.v1 import session_pb2

from conversation_service.app import sessions as app
from conversation_service.rpc.common import caller_of, config_of, listing, write_of
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, text_field, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import Env
from kernel.verbs.records import Session, SessionOrder, SessionState
from kernel.verbs.store import SessionFilter
from kernel.wire.trees import branch_pb, session_pb

MAX_TITLE = 500
_STATES: dict[int, SessionState] = {
    session_pb2.SESSION_STATE_ACTIVE: SessionState.ACTIVE,
    session_pb2.SESSION_STATE_ARCHIVED: SessionState.ARCHIVED,
}
_ORDERS: dict[int, SessionOrder] = {
    pb.SESSION_ORDER_LAST_ACTIVITY: SessionOrder.LAST_ACTIVITY,
    pb.SESSION_ORDER_CREATE_TIME: SessionOrder.CREATE_TIME,
}


class Sessions:
    def __init__(self, env: Env, providers: Providers, tokens: PageTokens) -> None:
        self._env = env
        self._providers = providers
        self._tokens = tokens

    async def create_session(self, request: pb.CreateSessionRequest, call: Call) -> pb.CreateSessionResponse:
        write = write_of(request, call)
        new = app.NewSession(
            _project(request.project_id),
            text_field(request.title, "title", maximum=MAX_TITLE),
            config_of(request.config, "config", self._providers),
        )
        session, branch = await app.create_session(self._env, write, new)
        return pb.CreateSessionResponse(session=session_pb(session), branch=branch_pb(branch))

    async def get_session(self, request: pb.GetSessionRequest, call: Call) -> pb.GetSessionResponse:
        session_id = uuid_field(request.session_id, "session_id")
        session = await app.get_session(self._env, caller_of(call), session_id)
        return pb.GetSessionResponse(session=session_pb(session))

    async def list_sessions(self, request: pb.ListSessionsRequest, call: Call) -> pb.ListSessionsResponse:
        project = _project(request.project_id)
        state = enum_field(request.state, session_pb2.SessionState, "state", 0)
        order = enum_field(request.order, pb.SessionOrder, "order", pb.SESSION_ORDER_LAST_ACTIVITY)
        where = SessionFilter(
            app.project_id_of(call.identity.tenant_id, project) if project else None,
            _STATES.get(state),
            _ORDERS[order],
        )
        page = listing(self._tokens, request, call, {"p": where.project_id, "s": state, "o": order})
        found = await app.list_sessions(self._env, caller_of(call), where, page.last, page.size + 1)
        shown = found[: page.size]
        token = page.token(_key(shown[-1], where.order)) if len(found) > page.size else ""
        return pb.ListSessionsResponse(sessions=[session_pb(s) for s in shown], next_page_token=token)


def _project(value: str) -> str:
    return uuid_field(value, "project_id", required=False, also={app.DEFAULT_PROJECT})


def _key(session: Session, order: SessionOrder) -> list[str]:
    by_activity = order is SessionOrder.LAST_ACTIVITY
    time = session.last_activity_time if by_activity else session.create_time
    return [time.isoformat(), session.session_id]
