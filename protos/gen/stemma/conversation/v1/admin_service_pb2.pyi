from google.api import annotations_pb2 as _annotations_pb2
from stemma.conversation.v1 import session_service_pb2 as _session_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErasePrincipalRequest(_message.Message):
    __slots__ = ("request_id", "principal")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    principal: str
    def __init__(self, request_id: _Optional[str] = ..., principal: _Optional[str] = ...) -> None: ...

class ErasePrincipalResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: _containers.RepeatedCompositeFieldContainer[_session_service_pb2.Erased]
    def __init__(self, receipt: _Optional[_Iterable[_Union[_session_service_pb2.Erased, _Mapping]]] = ...) -> None: ...

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
