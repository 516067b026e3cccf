from google.api import annotations_pb2 as _annotations_pb2
from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from stemma.kernel.v1 import state_pb2 as _state_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetStateRequest(_message.Message):
    __slots__ = ("session_id", "project_id", "branch", "floor_id")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    project_id: str
    branch: str
    floor_id: str
    def __init__(self, session_id: _Optional[str] = ..., project_id: _Optional[str] = ..., branch: _Optional[str] = ..., floor_id: _Optional[str] = ...) -> None: ...

class GetStateResponse(_message.Message):
    __slots__ = ("variables", "memory", "slots", "as_of_floor_id", "live_version", "session_version", "project_version")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    LIVE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_VERSION_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[_state_pb2.Variable]
    memory: _containers.RepeatedCompositeFieldContainer[_state_pb2.MemoryItem]
    slots: _containers.RepeatedCompositeFieldContainer[_state_pb2.SlotValue]
    as_of_floor_id: str
    live_version: str
    session_version: int
    project_version: int
    def __init__(self, variables: _Optional[_Iterable[_Union[_state_pb2.Variable, _Mapping]]] = ..., memory: _Optional[_Iterable[_Union[_state_pb2.MemoryItem, _Mapping]]] = ..., slots: _Optional[_Iterable[_Union[_state_pb2.SlotValue, _Mapping]]] = ..., as_of_floor_id: _Optional[str] = ..., live_version: _Optional[str] = ..., session_version: _Optional[int] = ..., project_version: _Optional[int] = ...) -> None: ...

class WriteStateRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "project_id", "variables", "expected_version")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    project_id: str
    variables: _containers.RepeatedCompositeFieldContainer[_effects_pb2.VariableWrite]
    expected_version: int
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., project_id: _Optional[str] = ..., variables: _Optional[_Iterable[_Union[_effects_pb2.VariableWrite, _Mapping]]] = ..., expected_version: _Optional[int] = ...) -> None: ...

class WriteStateResponse(_message.Message):
    __slots__ = ("variables", "version")
    VARIABLES_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    variables: _containers.RepeatedCompositeFieldContainer[_state_pb2.Variable]
    version: int
    def __init__(self, variables: _Optional[_Iterable[_Union[_state_pb2.Variable, _Mapping]]] = ..., version: _Optional[int] = ...) -> None: ...

class ListMemoryRequest(_message.Message):
    __slots__ = ("session_id", "branch", "floor_id", "kind", "include_deprecated", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    branch: str
    floor_id: str
    kind: _effects_pb2.MemoryKind
    include_deprecated: bool
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., branch: _Optional[str] = ..., floor_id: _Optional[str] = ..., kind: _Optional[_Union[_effects_pb2.MemoryKind, str]] = ..., include_deprecated: _Optional[bool] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListMemoryResponse(_message.Message):
    __slots__ = ("memory", "next_page_token", "as_of_floor_id")
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    AS_OF_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    memory: _containers.RepeatedCompositeFieldContainer[_state_pb2.MemoryItem]
    next_page_token: str
    as_of_floor_id: str
    def __init__(self, memory: _Optional[_Iterable[_Union[_state_pb2.MemoryItem, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., as_of_floor_id: _Optional[str] = ...) -> None: ...
