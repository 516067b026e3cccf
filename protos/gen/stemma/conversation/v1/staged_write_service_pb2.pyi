from google.api import annotations_pb2 as _annotations_pb2
from stemma.kernel.v1 import floor_pb2 as _floor_pb2
from stemma.kernel.v1 import project_pb2 as _project_pb2
from stemma.kernel.v1 import session_pb2 as _session_pb2
from stemma.kernel.v1 import staged_write_pb2 as _staged_write_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StageWriteRequest(_message.Message):
    __slots__ = ("request_id", "target", "parts", "origin", "reason", "on_behalf_of")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PARTS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ON_BEHALF_OF_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    target: _staged_write_pb2.StagedTarget
    parts: _containers.RepeatedCompositeFieldContainer[_staged_write_pb2.StagedPart]
    origin: _staged_write_pb2.StagedOrigin
    reason: str
    on_behalf_of: str
    def __init__(self, request_id: _Optional[str] = ..., target: _Optional[_Union[_staged_write_pb2.StagedTarget, _Mapping]] = ..., parts: _Optional[_Iterable[_Union[_staged_write_pb2.StagedPart, _Mapping]]] = ..., origin: _Optional[_Union[_staged_write_pb2.StagedOrigin, _Mapping]] = ..., reason: _Optional[str] = ..., on_behalf_of: _Optional[str] = ...) -> None: ...

class StageWriteResponse(_message.Message):
    __slots__ = ("staged_write",)
    STAGED_WRITE_FIELD_NUMBER: _ClassVar[int]
    staged_write: _staged_write_pb2.StagedWrite
    def __init__(self, staged_write: _Optional[_Union[_staged_write_pb2.StagedWrite, _Mapping]] = ...) -> None: ...

class GetStagedWriteRequest(_message.Message):
    __slots__ = ("staged_write_id",)
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    staged_write_id: str
    def __init__(self, staged_write_id: _Optional[str] = ...) -> None: ...

class GetStagedWriteResponse(_message.Message):
    __slots__ = ("staged_write",)
    STAGED_WRITE_FIELD_NUMBER: _ClassVar[int]
    staged_write: _staged_write_pb2.StagedWrite
    def __init__(self, staged_write: _Optional[_Union[_staged_write_pb2.StagedWrite, _Mapping]] = ...) -> None: ...

class ListStagedWritesRequest(_message.Message):
    __slots__ = ("project_id", "session_id", "state", "draft_id", "principal", "page_size", "page_token")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    session_id: str
    state: _staged_write_pb2.StagedWriteState
    draft_id: str
    principal: str
    page_size: int
    page_token: str
    def __init__(self, project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., state: _Optional[_Union[_staged_write_pb2.StagedWriteState, str]] = ..., draft_id: _Optional[str] = ..., principal: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListStagedWritesResponse(_message.Message):
    __slots__ = ("staged_writes", "next_page_token")
    STAGED_WRITES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    staged_writes: _containers.RepeatedCompositeFieldContainer[_staged_write_pb2.StagedWrite]
    next_page_token: str
    def __init__(self, staged_writes: _Optional[_Iterable[_Union[_staged_write_pb2.StagedWrite, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class PreviewStagedWriteRequest(_message.Message):
    __slots__ = ("staged_write_id",)
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    staged_write_id: str
    def __init__(self, staged_write_id: _Optional[str] = ...) -> None: ...

class StagedChange(_message.Message):
    __slots__ = ("part", "path", "before", "after")
    PART_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    part: int
    path: str
    before: str
    after: str
    def __init__(self, part: _Optional[int] = ..., path: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class StagedDiff(_message.Message):
    __slots__ = ("changes", "text")
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[StagedChange]
    text: str
    def __init__(self, changes: _Optional[_Iterable[_Union[StagedChange, _Mapping]]] = ..., text: _Optional[str] = ...) -> None: ...

class StagedConflict(_message.Message):
    __slots__ = ("part", "reason", "message", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PART_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    part: int
    reason: str
    message: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, part: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PreviewStagedWriteResponse(_message.Message):
    __slots__ = ("diff", "stale", "conflicts", "staged_write")
    DIFF_FIELD_NUMBER: _ClassVar[int]
    STALE_FIELD_NUMBER: _ClassVar[int]
    CONFLICTS_FIELD_NUMBER: _ClassVar[int]
    STAGED_WRITE_FIELD_NUMBER: _ClassVar[int]
    diff: StagedDiff
    stale: bool
    conflicts: _containers.RepeatedCompositeFieldContainer[StagedConflict]
    staged_write: _staged_write_pb2.StagedWrite
    def __init__(self, diff: _Optional[_Union[StagedDiff, _Mapping]] = ..., stale: _Optional[bool] = ..., conflicts: _Optional[_Iterable[_Union[StagedConflict, _Mapping]]] = ..., staged_write: _Optional[_Union[_staged_write_pb2.StagedWrite, _Mapping]] = ...) -> None: ...

class AcceptStagedWriteRequest(_message.Message):
    __slots__ = ("request_id", "staged_write_id", "expected_head", "expected_version", "allow_stale", "select", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    ALLOW_STALE_FIELD_NUMBER: _ClassVar[int]
    SELECT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    staged_write_id: str
    expected_head: str
    expected_version: int
    allow_stale: bool
    select: bool
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., staged_write_id: _Optional[str] = ..., expected_head: _Optional[str] = ..., expected_version: _Optional[int] = ..., allow_stale: _Optional[bool] = ..., select: _Optional[bool] = ..., reason: _Optional[str] = ...) -> None: ...

class AcceptStagedWriteResponse(_message.Message):
    __slots__ = ("staged_write", "floor", "branch", "project", "session")
    STAGED_WRITE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    staged_write: _staged_write_pb2.StagedWrite
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    project: _project_pb2.Project
    session: _session_pb2.Session
    def __init__(self, staged_write: _Optional[_Union[_staged_write_pb2.StagedWrite, _Mapping]] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ..., project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ..., session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...

class RejectStagedWriteRequest(_message.Message):
    __slots__ = ("request_id", "staged_write_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    staged_write_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., staged_write_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RejectStagedWriteResponse(_message.Message):
    __slots__ = ("staged_write",)
    STAGED_WRITE_FIELD_NUMBER: _ClassVar[int]
    staged_write: _staged_write_pb2.StagedWrite
    def __init__(self, staged_write: _Optional[_Union[_staged_write_pb2.StagedWrite, _Mapping]] = ...) -> None: ...

class WithdrawStagedWriteRequest(_message.Message):
    __slots__ = ("request_id", "staged_write_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STAGED_WRITE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    staged_write_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., staged_write_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class WithdrawStagedWriteResponse(_message.Message):
    __slots__ = ("staged_write",)
    STAGED_WRITE_FIELD_NUMBER: _ClassVar[int]
    staged_write: _staged_write_pb2.StagedWrite
    def __init__(self, staged_write: _Optional[_Union[_staged_write_pb2.StagedWrite, _Mapping]] = ...) -> None: ...
