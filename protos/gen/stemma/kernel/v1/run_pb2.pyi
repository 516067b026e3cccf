import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.kernel.v1 import floor_pb2 as _floor_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RunState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RUN_STATE_UNSPECIFIED: _ClassVar[RunState]
    RUN_STATE_RUNNING: _ClassVar[RunState]
    RUN_STATE_WAITING: _ClassVar[RunState]
    RUN_STATE_HELD: _ClassVar[RunState]
    RUN_STATE_COMMITTED: _ClassVar[RunState]
    RUN_STATE_FAILED: _ClassVar[RunState]
    RUN_STATE_CANCELLED: _ClassVar[RunState]

class Keep(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KEEP_UNSPECIFIED: _ClassVar[Keep]
    KEEP_COMMIT: _ClassVar[Keep]
    KEEP_FAIL: _ClassVar[Keep]

class ActionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_KIND_UNSPECIFIED: _ClassVar[ActionKind]
    ACTION_KIND_RESULT: _ClassVar[ActionKind]
    ACTION_KIND_APPROVAL: _ClassVar[ActionKind]
RUN_STATE_UNSPECIFIED: RunState
RUN_STATE_RUNNING: RunState
RUN_STATE_WAITING: RunState
RUN_STATE_HELD: RunState
RUN_STATE_COMMITTED: RunState
RUN_STATE_FAILED: RunState
RUN_STATE_CANCELLED: RunState
KEEP_UNSPECIFIED: Keep
KEEP_COMMIT: Keep
KEEP_FAIL: Keep
ACTION_KIND_UNSPECIFIED: ActionKind
ACTION_KIND_RESULT: ActionKind
ACTION_KIND_APPROVAL: ActionKind

class Run(_message.Message):
    __slots__ = ("run_id", "session_id", "floor_id", "state", "failure_reason", "usage", "create_time", "end_time", "requires_action", "epoch", "seq", "draft_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_ACTION_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    session_id: str
    floor_id: str
    state: RunState
    failure_reason: str
    usage: _floor_pb2.Usage
    create_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    requires_action: RequiresAction
    epoch: int
    seq: int
    draft_id: str
    def __init__(self, run_id: _Optional[str] = ..., session_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., state: _Optional[_Union[RunState, str]] = ..., failure_reason: _Optional[str] = ..., usage: _Optional[_Union[_floor_pb2.Usage, _Mapping]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., requires_action: _Optional[_Union[RequiresAction, _Mapping]] = ..., epoch: _Optional[int] = ..., seq: _Optional[int] = ..., draft_id: _Optional[str] = ...) -> None: ...

class RunEvent(_message.Message):
    __slots__ = ("run_id", "floor_id", "epoch", "seq", "started", "text_delta", "reasoning_delta", "page_completed", "floor_committed", "failed", "cancelled", "tool_call", "tool_result", "requires_action", "reset", "held")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SEQ_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    TEXT_DELTA_FIELD_NUMBER: _ClassVar[int]
    REASONING_DELTA_FIELD_NUMBER: _ClassVar[int]
    PAGE_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COMMITTED_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    CANCELLED_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_FIELD_NUMBER: _ClassVar[int]
    TOOL_RESULT_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_ACTION_FIELD_NUMBER: _ClassVar[int]
    RESET_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    floor_id: str
    epoch: int
    seq: int
    started: RunStarted
    text_delta: TextDelta
    reasoning_delta: TextDelta
    page_completed: PageCompleted
    floor_committed: FloorCommitted
    failed: RunFailed
    cancelled: RunCancelled
    tool_call: ToolCalled
    tool_result: ToolAnswered
    requires_action: RequiresAction
    reset: RunReset
    held: RunHeld
    def __init__(self, run_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., epoch: _Optional[int] = ..., seq: _Optional[int] = ..., started: _Optional[_Union[RunStarted, _Mapping]] = ..., text_delta: _Optional[_Union[TextDelta, _Mapping]] = ..., reasoning_delta: _Optional[_Union[TextDelta, _Mapping]] = ..., page_completed: _Optional[_Union[PageCompleted, _Mapping]] = ..., floor_committed: _Optional[_Union[FloorCommitted, _Mapping]] = ..., failed: _Optional[_Union[RunFailed, _Mapping]] = ..., cancelled: _Optional[_Union[RunCancelled, _Mapping]] = ..., tool_call: _Optional[_Union[ToolCalled, _Mapping]] = ..., tool_result: _Optional[_Union[ToolAnswered, _Mapping]] = ..., requires_action: _Optional[_Union[RequiresAction, _Mapping]] = ..., reset: _Optional[_Union[RunReset, _Mapping]] = ..., held: _Optional[_Union[RunHeld, _Mapping]] = ...) -> None: ...

class RunStarted(_message.Message):
    __slots__ = ("context_digest", "tokens_in", "left_out_count", "standing_calls")
    CONTEXT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TOKENS_IN_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    STANDING_CALLS_FIELD_NUMBER: _ClassVar[int]
    context_digest: str
    tokens_in: int
    left_out_count: int
    standing_calls: _containers.RepeatedCompositeFieldContainer[StandingCall]
    def __init__(self, context_digest: _Optional[str] = ..., tokens_in: _Optional[int] = ..., left_out_count: _Optional[int] = ..., standing_calls: _Optional[_Iterable[_Union[StandingCall, _Mapping]]] = ...) -> None: ...

class StandingCall(_message.Message):
    __slots__ = ("call_id", "name", "arguments_json")
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    call_id: str
    name: str
    arguments_json: str
    def __init__(self, call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class TextDelta(_message.Message):
    __slots__ = ("page_id", "text")
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    page_id: str
    text: str
    def __init__(self, page_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class PageCompleted(_message.Message):
    __slots__ = ("page",)
    PAGE_FIELD_NUMBER: _ClassVar[int]
    page: _message_pb2.Page
    def __init__(self, page: _Optional[_Union[_message_pb2.Page, _Mapping]] = ...) -> None: ...

class FloorCommitted(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class RunFailed(_message.Message):
    __slots__ = ("code", "reason", "floor")
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    code: int
    reason: str
    floor: _floor_pb2.Floor
    def __init__(self, code: _Optional[int] = ..., reason: _Optional[str] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ...) -> None: ...

class RunCancelled(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class ToolCalled(_message.Message):
    __slots__ = ("page_id", "call_id", "name", "arguments_json")
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ARGUMENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    page_id: str
    call_id: str
    name: str
    arguments_json: str
    def __init__(self, page_id: _Optional[str] = ..., call_id: _Optional[str] = ..., name: _Optional[str] = ..., arguments_json: _Optional[str] = ...) -> None: ...

class ToolAnswered(_message.Message):
    __slots__ = ("page_id", "call_id", "content", "is_error")
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FIELD_NUMBER: _ClassVar[int]
    page_id: str
    call_id: str
    content: str
    is_error: bool
    def __init__(self, page_id: _Optional[str] = ..., call_id: _Optional[str] = ..., content: _Optional[str] = ..., is_error: _Optional[bool] = ...) -> None: ...

class RequiresAction(_message.Message):
    __slots__ = ("calls", "kind")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    calls: _containers.RepeatedCompositeFieldContainer[_message_pb2.ToolCallPart]
    kind: ActionKind
    def __init__(self, calls: _Optional[_Iterable[_Union[_message_pb2.ToolCallPart, _Mapping]]] = ..., kind: _Optional[_Union[ActionKind, str]] = ...) -> None: ...

class RunReset(_message.Message):
    __slots__ = ("pages",)
    PAGES_FIELD_NUMBER: _ClassVar[int]
    pages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Page]
    def __init__(self, pages: _Optional[_Iterable[_Union[_message_pb2.Page, _Mapping]]] = ...) -> None: ...

class RunHeld(_message.Message):
    __slots__ = ("floor",)
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ...) -> None: ...
