"""FloorService, what changes a tree."""

from stemma.conversation.v1 import floor_service_pb2 as pb
from stemma.kernel.v1 import floor_pb2, message_pb2

from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import branch_name, enum_field, reason, uuid_field
from kernel.tree.model import PageContent, Slot, Usage
from kernel.verbs import append, floors, heads, siblings
from kernel.verbs.answers import Answered, message_id
from kernel.verbs.env import Env
from kernel.verbs.pages import MAX_SHOWN, shown_size
from kernel.wire.floor_bytes import delimited, floor_bytes, tags
from kernel.wire.requests import content_of, effects_of, target_of, write_of
from kernel.wire.trees import floor_pb, maybe_branch_pb, page_pb

_MAX_COUNT = 2**53
_FLOOR_FIELDS = {
    response: tags(response.DESCRIPTOR)["floor"]
    for response in (pb.AppendFloorResponse, pb.AppendFloorsResponse)
}


class FloorWrites:
    def __init__(self, env: Env) -> None:
        self._env = env

    async def append_floor(self, request: pb.AppendFloorRequest, call: Call) -> bytes:
        write, target = write_of(request, call), target_of(request)
        done = await append.append_floor(self._env, write, target, turn_of(request))
        return appended(done, pb.AppendFloorResponse(branch=maybe_branch_pb(done.branch)))

    async def open_floor(self, request: pb.OpenFloorRequest, call: Call) -> pb.OpenFloorResponse:
        write, target = write_of(request, call), target_of(request)
        done = await floors.open_floor(self._env, write, target, content_of(request.input, "input"))
        return pb.OpenFloorResponse(floor=_floor(done), branch=maybe_branch_pb(done.branch))

    async def add_page(self, request: pb.AddPageRequest, call: Call) -> pb.AddPageResponse:
        write = write_of(request, call)
        version = floors.NewVersion(
            uuid_field(request.floor_id, "floor_id"),
            Slot(enum_field(request.slot, message_pb2.Slot, "slot")),
            _required(content_of(request.messages, "messages", required=True)),
            request.activate,
            effects_of(request),
        )
        if version.slot is Slot.INPUT and request.HasField("effects"):
            raise invalid("effects", "belong to an output page")
        done = await floors.add_page(self._env, write, version)
        assert done.page is not None
        assert done.shown is not None
        page = page_pb(done.page, _before_page(done, done.page.slot))
        bodies = shown_size([done.page, *done.floor.pages], done.floor.effects) <= MAX_SHOWN
        return pb.AddPageResponse(page=page, floor=floor_pb(done.shown, bodies=bodies))

    async def activate_page(self, request: pb.ActivatePageRequest, call: Call) -> pb.ActivatePageResponse:
        write, page_id = write_of(request, call), uuid_field(request.page_id, "page_id")
        done = await floors.activate_page(self._env, write, page_id)
        return pb.ActivatePageResponse(floor=_floor(done))

    async def commit_floor(self, request: pb.CommitFloorRequest, call: Call) -> pb.CommitFloorResponse:
        write, floor_id = write_of(request, call), uuid_field(request.floor_id, "floor_id")
        page_id = uuid_field(request.page_id, "page_id", required=False)
        head = uuid_field(request.expected_head, "expected_head", required=False) or None
        done = await floors.commit_floor(self._env, write, floor_id, page_id, head, effects_of(request))
        return pb.CommitFloorResponse(floor=_floor(done), branch=maybe_branch_pb(done.branch))

    async def abandon_floor(self, request: pb.AbandonFloorRequest, call: Call) -> pb.AbandonFloorResponse:
        write, floor_id = write_of(request, call), uuid_field(request.floor_id, "floor_id")
        done = await floors.abandon_floor(self._env, write, floor_id, reason(request.reason))
        return pb.AbandonFloorResponse(floor=_floor(done), branch=maybe_branch_pb(done.branch))

    async def edit_floor(self, request: pb.EditFloorRequest, call: Call) -> pb.EditFloorResponse:
        write, target = write_of(request, call), target_of(request, session_optional=True)
        edit = siblings.Edit(
            uuid_field(request.floor_id, "floor_id"),
            _required(content_of(request.input, "input", required=True)),
            content_of(request.output, "output"),
            effects_of(request),
        )
        if edit.output is None and request.HasField("effects"):
            raise invalid("effects", "belong to an output: without one the floor stays open")
        done = await siblings.edit_floor(self._env, write, target, edit)
        return pb.EditFloorResponse(floor=_floor(done), branch=maybe_branch_pb(done.branch))

    async def regenerate_floor(
        self, request: pb.RegenerateFloorRequest, call: Call
    ) -> pb.RegenerateFloorResponse:
        write, target = write_of(request, call), target_of(request, session_optional=True)
        if request.output and request.from_page_id:
            raise invalid("from_page_id", "not together with output")
        ask = siblings.Regenerate(
            uuid_field(request.floor_id, "floor_id"),
            content_of(request.output, "output"),
            uuid_field(request.from_page_id, "from_page_id", required=False),
            effects_of(request),
        )
        if ask.output is None and not ask.from_page_id and request.HasField("effects"):
            raise invalid("effects", "belong to an output: without one the floor stays open")
        done = await siblings.regenerate_floor(self._env, write, target, ask)
        return pb.RegenerateFloorResponse(floor=_floor(done), branch=maybe_branch_pb(done.branch))

    async def move_head(self, request: pb.MoveHeadRequest, call: Call) -> pb.MoveHeadResponse:
        write, target = write_of(request, call), target_of(request)
        floor_id = uuid_field(request.floor_id, "floor_id")
        done = await heads.move_to(self._env, write, target, floor_id)
        return pb.MoveHeadResponse(branch=maybe_branch_pb(done.branch))

    async def select_sibling(self, request: pb.SelectSiblingRequest, call: Call) -> pb.SelectSiblingResponse:
        write, target = write_of(request, call), target_of(request)
        floor_id = uuid_field(request.floor_id, "floor_id")
        done = await heads.select_sibling(self._env, write, target, floor_id)
        return pb.SelectSiblingResponse(branch=maybe_branch_pb(done.branch))

    async def create_branch(self, request: pb.CreateBranchRequest, call: Call) -> pb.CreateBranchResponse:
        write, session_id = write_of(request, call), uuid_field(request.session_id, "session_id")
        name = branch_name(request.name, "", "name")
        floor_id = uuid_field(request.floor_id, "floor_id")
        done = await heads.create_branch(self._env, write, session_id, name, floor_id)
        return pb.CreateBranchResponse(branch=maybe_branch_pb(done.branch))

    async def delete_branch(self, request: pb.DeleteBranchRequest, call: Call) -> pb.DeleteBranchResponse:
        write, session_id = write_of(request, call), uuid_field(request.session_id, "session_id")
        name = branch_name(request.branch, "")
        done = await heads.delete_branch(self._env, write, session_id, name)
        return pb.DeleteBranchResponse(branch=maybe_branch_pb(done.branch))


def appended(done: Answered, rest: pb.AppendFloorResponse | pb.AppendFloorsResponse) -> bytes:
    """The floor's bytes as they are, framed as a field of the response that has the rest."""
    assert done.shown is not None
    return delimited(_FLOOR_FIELDS[type(rest)], floor_bytes(done.shown)) + rest.SerializeToString()


def turn_of(request: pb.AppendFloorRequest | pb.AppendFloorsRequest) -> append.Turn:
    """What is appended, checked."""
    turn = append.Turn(
        content_of(request.input, "input"),
        content_of(request.output, "output"),
        _usage(request),
        effects_of(request),
    )
    if turn.empty:
        raise invalid("input", "a floor needs an input, an output or effects")
    return turn


def _floor(done: Answered) -> floor_pb2.Floor:
    assert done.shown is not None
    return floor_pb(done.shown)


def _required(content: PageContent | None) -> PageContent:
    assert content is not None
    return content


def _before_page(done: Answered, slot: Slot) -> str:
    """The id of the message before a page's first: of the input's last, for an output."""
    assert done.shown is not None
    chosen = done.floor.input
    if slot is Slot.INPUT or chosen is None:
        return done.shown.before
    return message_id(chosen, len(chosen.content.facts) - 1)


def _usage(request: pb.AppendFloorRequest | pb.AppendFloorsRequest) -> Usage | None:
    if not request.HasField("usage"):
        return None
    usage = request.usage
    for name in ("tokens_in", "tokens_out"):
        if not 0 <= getattr(usage, name) <= _MAX_COUNT:
            raise invalid(f"usage.{name}", "must be a count of tokens")
    return Usage(usage.tokens_in, usage.tokens_out, usage.estimated)
