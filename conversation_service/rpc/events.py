"""EventService."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import partial

from stemma.conversation.v1 import event_service_pb2 as pb

from conversation_service.app.events import feed_of, read_events
from conversation_service.app.feed_hub import FeedHub
from conversation_service.app.projects import DEFAULT_PROJECT
from kernel.errors import invalid
from kernel.rpc.call import Call
from kernel.rpc.checks import Gather, page_size, uuid_field
from kernel.verbs.env import Env
from kernel.verbs.queries import fitting
from kernel.verbs.records import PlacedEvent
from kernel.wire.requests import caller_of

# What a watcher is given at a time; its reader takes it before more is read for it.
_EVENTS, _BYTES = 200, 256 * 1024


@dataclass(frozen=True, slots=True)
class Frames:
    """Events as they are sent, the position after the last of them, and the feed's newest one."""

    raw: Sequence[bytes]
    position: int
    last: int


class Events:
    def __init__(self, env: Env, hub: FeedHub[Frames]) -> None:
        self._env = env
        self._hub = hub

    async def list_events(self, request: pb.ListEventsRequest, call: Call) -> pb.ListEventsResponse:
        with Gather() as check:
            project = check(uuid_field, request.project_id, "project_id", also=(DEFAULT_PROJECT,))
            after = check(_position, request.after)
            size = check(page_size, request.page_size)
        project_id = await feed_of(self._env, caller_of(call), project)
        page = await read_events(self._env, call.identity.tenant_id, project_id, after, size)
        events = [event_pb(placed) for placed in page.events]
        count = fitting([event.ByteSize() for event in events])
        return pb.ListEventsResponse(events=events[:count], last_position=page.last)

    async def watch_events(self, request: pb.WatchEventsRequest, call: Call) -> AsyncIterator[bytes]:
        with Gather() as check:
            project = check(uuid_field, request.project_id, "project_id", also=(DEFAULT_PROJECT,))
            position = check(_position, request.after)
        project_id = await feed_of(self._env, caller_of(call), project)
        tenant_id = call.identity.tenant_id

        with self._hub.watching(tenant_id, project_id) as feed:
            while True:
                read = partial(self._read, tenant_id, project_id, position)
                frames = await self._hub.shared(tenant_id, project_id, position, read)
                feed.advance(frames.last)
                # Nothing can be refused any more: whoever waits for the answer to begin, may go on.
                await call.accept()
                for raw in frames.raw:
                    yield raw
                position = frames.position
                await feed.beyond(position)

    async def _read(self, tenant_id: str, project_id: str, after: int) -> Frames:
        page = await read_events(self._env, tenant_id, project_id, after, _EVENTS)
        raw: list[bytes] = []
        size = 0
        for placed in page.events:
            raw.append(pb.WatchEventsResponse(event=event_pb(placed)).SerializeToString(deterministic=True))
            size += len(raw[-1])
            if size > _BYTES:
                break
        return Frames(raw, after + len(raw), page.last)


def _position(value: int) -> int:
    if value < 0:
        raise invalid("after", "must not be negative")
    return value


def event_pb(placed: PlacedEvent) -> pb.Event:
    event = placed.event
    message = pb.Event(
        position=placed.position,
        event_id=event.event_id,
        type=event.type,
        session_id=event.session_id,
        floor_id=event.floor_id,
        payload_json=json.dumps(event.payload, ensure_ascii=False, separators=(",", ":")),
    )
    message.commit_time.FromDatetime(placed.commit_time)
    return message
