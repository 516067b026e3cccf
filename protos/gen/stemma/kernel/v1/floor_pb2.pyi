import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FloorState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FLOOR_STATE_UNSPECIFIED: _ClassVar[FloorState]
    FLOOR_STATE_OPEN: _ClassVar[FloorState]
    FLOOR_STATE_GENERATING: _ClassVar[FloorState]
    FLOOR_STATE_COMMITTED: _ClassVar[FloorState]
    FLOOR_STATE_FAILED: _ClassVar[FloorState]

class OnPending(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_PENDING_UNSPECIFIED: _ClassVar[OnPending]
    ON_PENDING_REFUSE: _ClassVar[OnPending]
    ON_PENDING_ABANDON: _ClassVar[OnPending]

class PathOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PATH_ORDER_UNSPECIFIED: _ClassVar[PathOrder]
    PATH_ORDER_ROOT_FIRST: _ClassVar[PathOrder]
    PATH_ORDER_HEAD_FIRST: _ClassVar[PathOrder]
FLOOR_STATE_UNSPECIFIED: FloorState
FLOOR_STATE_OPEN: FloorState
FLOOR_STATE_GENERATING: FloorState
FLOOR_STATE_COMMITTED: FloorState
FLOOR_STATE_FAILED: FloorState
ON_PENDING_UNSPECIFIED: OnPending
ON_PENDING_REFUSE: OnPending
ON_PENDING_ABANDON: OnPending
PATH_ORDER_UNSPECIFIED: PathOrder
PATH_ORDER_ROOT_FIRST: PathOrder
PATH_ORDER_HEAD_FIRST: PathOrder

class Usage(_message.Message):
    __slots__ = ("tokens_in", "tokens_out", "estimated")
    TOKENS_IN_FIELD_NUMBER: _ClassVar[int]
    TOKENS_OUT_FIELD_NUMBER: _ClassVar[int]
    ESTIMATED_FIELD_NUMBER: _ClassVar[int]
    tokens_in: int
    tokens_out: int
    estimated: bool
    def __init__(self, tokens_in: _Optional[int] = ..., tokens_out: _Optional[int] = ..., estimated: _Optional[bool] = ...) -> None: ...

class Floor(_message.Message):
    __slots__ = ("floor_id", "session_id", "parent_floor_id", "depth", "ordinal", "state", "input_page", "output_page", "effects", "digest", "path_tokens", "usage", "run_id", "failure_reason", "principal", "create_time", "commit_time")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    ORDINAL_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    INPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PATH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TIME_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    session_id: str
    parent_floor_id: str
    depth: int
    ordinal: int
    state: FloorState
    input_page: _message_pb2.Page
    output_page: _message_pb2.Page
    effects: _effects_pb2.Effects
    digest: str
    path_tokens: int
    usage: Usage
    run_id: str
    failure_reason: str
    principal: str
    create_time: _timestamp_pb2.Timestamp
    commit_time: _timestamp_pb2.Timestamp
    def __init__(self, floor_id: _Optional[str] = ..., session_id: _Optional[str] = ..., parent_floor_id: _Optional[str] = ..., depth: _Optional[int] = ..., ordinal: _Optional[int] = ..., state: _Optional[_Union[FloorState, str]] = ..., input_page: _Optional[_Union[_message_pb2.Page, _Mapping]] = ..., output_page: _Optional[_Union[_message_pb2.Page, _Mapping]] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ..., digest: _Optional[str] = ..., path_tokens: _Optional[int] = ..., usage: _Optional[_Union[Usage, _Mapping]] = ..., run_id: _Optional[str] = ..., failure_reason: _Optional[str] = ..., principal: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., commit_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class Position(_message.Message):
    __slots__ = ("floor_id", "input_index", "input_count", "output_index", "output_count")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_INDEX_FIELD_NUMBER: _ClassVar[int]
    INPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_INDEX_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_COUNT_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    input_index: int
    input_count: int
    output_index: int
    output_count: int
    def __init__(self, floor_id: _Optional[str] = ..., input_index: _Optional[int] = ..., input_count: _Optional[int] = ..., output_index: _Optional[int] = ..., output_count: _Optional[int] = ...) -> None: ...

class Branch(_message.Message):
    __slots__ = ("name", "head_floor_id", "pending_floor_id", "failed_floor_id", "depth", "version", "create_time", "update_time")
    NAME_FIELD_NUMBER: _ClassVar[int]
    HEAD_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PENDING_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    FAILED_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    name: str
    head_floor_id: str
    pending_floor_id: str
    failed_floor_id: str
    depth: int
    version: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, name: _Optional[str] = ..., head_floor_id: _Optional[str] = ..., pending_floor_id: _Optional[str] = ..., failed_floor_id: _Optional[str] = ..., depth: _Optional[int] = ..., version: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class HeadMove(_message.Message):
    __slots__ = ("branch", "from_floor_id", "to_floor_id", "kind", "principal", "move_time")
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    FROM_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    TO_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    MOVE_TIME_FIELD_NUMBER: _ClassVar[int]
    branch: str
    from_floor_id: str
    to_floor_id: str
    kind: str
    principal: str
    move_time: _timestamp_pb2.Timestamp
    def __init__(self, branch: _Optional[str] = ..., from_floor_id: _Optional[str] = ..., to_floor_id: _Optional[str] = ..., kind: _Optional[str] = ..., principal: _Optional[str] = ..., move_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
