from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class VerifySessionRequest(_message.Message):
    __slots__ = ("session_id", "repair")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    REPAIR_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    repair: bool
    def __init__(self, session_id: _Optional[str] = ..., repair: _Optional[bool] = ...) -> None: ...

class VerifySessionResponse(_message.Message):
    __slots__ = ("problems", "repaired")
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    REPAIRED_FIELD_NUMBER: _ClassVar[int]
    problems: _containers.RepeatedCompositeFieldContainer[Problem]
    repaired: int
    def __init__(self, problems: _Optional[_Iterable[_Union[Problem, _Mapping]]] = ..., repaired: _Optional[int] = ...) -> None: ...

class Problem(_message.Message):
    __slots__ = ("kind", "text", "floor_id", "page_id")
    KIND_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    kind: str
    text: str
    floor_id: str
    page_id: str
    def __init__(self, kind: _Optional[str] = ..., text: _Optional[str] = ..., floor_id: _Optional[str] = ..., page_id: _Optional[str] = ...) -> None: ...
