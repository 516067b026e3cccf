"""SessionService."""

from stemma.conversation.v1 import session_service_pb2 as pb
from stemma.kernel.v1 import session_pb2

from conversation_service.app import forks, session_changes
from conversation_service.app import sessions as app
from conversation_service.rpc.changes import MAX_TITLE, change_of, page_of
from conversation_service.rpc.projects import project_field
from kernel.generation.registry import Providers
from kernel.rpc.call import Call
from kernel.rpc.checks import enum_field, text_field, uuid_field
from kernel.rpc.tokens import PageTokens
from kernel.verbs.env import Env
from kernel.verbs.records import Session, SessionOrder
from kernel.verbs.store import SessionFilter
from kernel.wire.projects import session_states
from kernel.wire.requests import caller_of, config_of, listing, write_of
from kernel.wire.trees import branch_pb, session_pb

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
            project_field(request.project_id, required=False),
            text_field(request.title, "title", maximum=MAX_TITLE),
            config_of(request.config, "config", self._providers, call),
            request.greeting_index if request.HasField("greeting_index") else None,
        )
        session, branch = await app.create_session(self._env, write, new)
        return pb.CreateSessionResponse(session=session_pb(session), branch=branch_pb(branch))

    async def get_session(self, request: pb.GetSessionRequest, call: Call) -> pb.GetSessionResponse:
        session_id = uuid_field(request.session_id, "session_id")
        session = await app.get_session(self._env, caller_of(call), session_id)
        return pb.GetSessionResponse(session=session_pb(session))

    async def list_sessions(self, request: pb.ListSessionsRequest, call: Call) -> pb.ListSessionsResponse:
        project = project_field(request.project_id, required=False)
        state = enum_field(request.state, session_pb2.SessionState, "state", 0)
        order = enum_field(request.order, pb.SessionOrder, "order", pb.SESSION_ORDER_LAST_ACTIVITY)
        where = SessionFilter(
            app.project_id_of(call.identity.tenant_id, project) if project else None,
            session_states().get(state),
            _ORDERS[order],
        )
        page = listing(self._tokens, request, call, {"p": where.project_id, "s": state, "o": order})

        async def fetch(last: tuple[str, str] | None, limit: int) -> list[Session]:
            return await app.list_sessions(self._env, caller_of(call), where, last, limit)

        def key(session: Session) -> list[str]:
            return _key(session, where.order)

        shown, last = await page_of(page.size, page.last, fetch, key, session_pb)
        token = page.token(last) if last else ""
        return pb.ListSessionsResponse(sessions=shown, next_page_token=token)

    async def update_session(self, request: pb.UpdateSessionRequest, call: Call) -> pb.UpdateSessionResponse:
        write, session_id = write_of(request, call), uuid_field(request.session_id, "session_id")
        change = change_of(request, session_pb2.Session.DESCRIPTOR, self._providers, call)
        session = await session_changes.update_session(self._env, write, session_id, change)
        return pb.UpdateSessionResponse(session=session_pb(session))

    async def archive_session(
        self, request: pb.ArchiveSessionRequest, call: Call
    ) -> pb.ArchiveSessionResponse:
        write, session_id = write_of(request, call), uuid_field(request.session_id, "session_id")
        session = await session_changes.archive_session(self._env, write, session_id)
        return pb.ArchiveSessionResponse(session=session_pb(session))

    async def restore_session(
        self, request: pb.RestoreSessionRequest, call: Call
    ) -> pb.RestoreSessionResponse:
        write, session_id = write_of(request, call), uuid_field(request.session_id, "session_id")
        session = await session_changes.restore_session(self._env, write, session_id)
        return pb.RestoreSessionResponse(session=session_pb(session))

    async def delete_session(self, request: pb.DeleteSessionRequest, call: Call) -> pb.DeleteSessionResponse:
        write, session_id = write_of(request, call), uuid_field(request.session_id, "session_id")
        receipt = await session_changes.delete_session(self._env, write, session_id)
        erased = [pb.Erased(store=one.store, rows=one.rows) for one in receipt]
        return pb.DeleteSessionResponse(receipt=erased)

    async def fork_session(self, request: pb.ForkSessionRequest, call: Call) -> pb.ForkSessionResponse:
        write = write_of(request, call)
        fork = forks.Fork(
            uuid_field(request.session_id, "session_id"),
            uuid_field(request.floor_id, "floor_id"),
            text_field(request.title, "title", maximum=MAX_TITLE),
        )
        session, branch = await forks.fork_session(self._env, write, fork)
        return pb.ForkSessionResponse(session=session_pb(session), branch=branch_pb(branch))


def _key(session: Session, order: SessionOrder) -> list[str]:
    by_activity = order is SessionOrder.LAST_ACTIVITY
    time = session.last_activity_time if by_activity else session.create_time
    return [time.isoformat(), session.session_id]
