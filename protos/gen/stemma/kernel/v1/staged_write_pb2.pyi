import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Placement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLACEMENT_UNSPECIFIED: _ClassVar[Placement]
    PLACEMENT_OUTPUT_OF_FLOOR: _ClassVar[Placement]
    PLACEMENT_NEXT_FLOOR: _ClassVar[Placement]

class StagedWriteState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STAGED_WRITE_STATE_UNSPECIFIED: _ClassVar[StagedWriteState]
    STAGED_WRITE_STATE_STAGED: _ClassVar[StagedWriteState]
    STAGED_WRITE_STATE_ACCEPTED: _ClassVar[StagedWriteState]
    STAGED_WRITE_STATE_REJECTED: _ClassVar[StagedWriteState]
    STAGED_WRITE_STATE_WITHDRAWN: _ClassVar[StagedWriteState]
    STAGED_WRITE_STATE_EXPIRED: _ClassVar[StagedWriteState]
PLACEMENT_UNSPECIFIED: Placement
PLACEMENT_OUTPUT_OF_FLOOR: Placement
PLACEMENT_NEXT_FLOOR: Placement
STAGED_WRITE_STATE_UNSPECIFIED: StagedWriteState
STAGED_WRITE_STATE_STAGED: StagedWriteState
STAGED_WRITE_STATE_ACCEPTED: StagedWriteState
STAGED_WRITE_STATE_REJECTED: StagedWriteState
STAGED_WRITE_STATE_WITHDRAWN: StagedWriteState
STAGED_WRITE_STATE_EXPIRED: StagedWriteState

class StagedTarget(_message.Message):
    __slots__ = ("project_id", "session_id", "branch", "floor_id", "placement")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PLACEMENT_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    session_id: str
    branch: str
    floor_id: str
    placement: Placement
    def __init__(self, project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., floor_id: _Optional[str] = ..., placement: _Optional[_Union[Placement, str]] = ...) -> None: ...

class StagedPart(_message.Message):
    __slots__ = ("output_page", "config_patch", "state_patch")
    OUTPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_PATCH_FIELD_NUMBER: _ClassVar[int]
    STATE_PATCH_FIELD_NUMBER: _ClassVar[int]
    output_page: OutputPage
    config_patch: ConfigPatch
    state_patch: StatePatch
    def __init__(self, output_page: _Optional[_Union[OutputPage, _Mapping]] = ..., config_patch: _Optional[_Union[ConfigPatch, _Mapping]] = ..., state_patch: _Optional[_Union[StatePatch, _Mapping]] = ...) -> None: ...

class OutputPage(_message.Message):
    __slots__ = ("input", "output")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    input: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, input: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class ConfigPatch(_message.Message):
    __slots__ = ("operations_json",)
    OPERATIONS_JSON_FIELD_NUMBER: _ClassVar[int]
    operations_json: str
    def __init__(self, operations_json: _Optional[str] = ...) -> None: ...

class StatePatch(_message.Message):
    __slots__ = ("effects",)
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    effects: _effects_pb2.Effects
    def __init__(self, effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ...) -> None: ...

class StagedOrigin(_message.Message):
    __slots__ = ("draft_id", "page_id", "snapshot_digest", "base_floor_id", "base_version")
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    BASE_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_VERSION_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    page_id: str
    snapshot_digest: str
    base_floor_id: str
    base_version: int
    def __init__(self, draft_id: _Optional[str] = ..., page_id: _Optional[str] = ..., snapshot_digest: _Optional[str] = ..., base_floor_id: _Optional[str] = ..., base_version: _Optional[int] = ...) -> None: ...

class StagedWrite(_message.Message):
    __slots__ = ("staged_write_id", "state", "target", "parts", "origin", "reason", "staged_by", "decided_by", "decision_reason", "result_floor_id", "create_time", "decide_time", "expire_time", "accepted_stale")
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STAGED_BY_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    DECISION_REASON_FIELD_NUMBER: _ClassVar[int]
    RESULT_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DECIDE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ACCEPTED_STALE_FIELD_NUMBER: _ClassVar[int]
    staged_write_id: str
    state: StagedWriteState
    target: StagedTarget
    parts: _containers.RepeatedCompositeFieldContainer[StagedPart]
    origin: StagedOrigin
    reason: str
    staged_by: str
    decided_by: str
    decision_reason: str
    result_floor_id: str
    create_time: _timestamp_pb2.Timestamp
    decide_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    accepted_stale: bool
    def __init__(self, staged_write_id: _Optional[str] = ..., state: _Optional[_Union[StagedWriteState, str]] = ..., target: _Optional[_Union[StagedTarget, _Mapping]] = ..., parts: _Optional[_Iterable[_Union[StagedPart, _Mapping]]] = ..., origin: _Optional[_Union[StagedOrigin, _Mapping]] = ..., reason: _Optional[str] = ..., staged_by: _Optional[str] = ..., decided_by: _Optional[str] = ..., decision_reason: _Optional[str] = ..., result_floor_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., decide_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., accepted_stale: _Optional[bool] = ...) -> None: ...
