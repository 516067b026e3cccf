from stemma.kernel.v1 import audit_pb2 as _audit_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListAuditEntriesRequest(_message.Message):
    __slots__ = ("principal", "action", "target", "request_id", "session_id", "project_id", "outcome", "page_size", "page_token")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    principal: str
    action: str
    target: str
    request_id: str
    session_id: str
    project_id: str
    outcome: str
    page_size: int
    page_token: str
    def __init__(self, principal: _Optional[str] = ..., action: _Optional[str] = ..., target: _Optional[str] = ..., request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., project_id: _Optional[str] = ..., outcome: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListAuditEntriesResponse(_message.Message):
    __slots__ = ("audit_entries", "next_page_token", "head")
    AUDIT_ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    audit_entries: _containers.RepeatedCompositeFieldContainer[_audit_pb2.AuditEntry]
    next_page_token: str
    head: str
    def __init__(self, audit_entries: _Optional[_Iterable[_Union[_audit_pb2.AuditEntry, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., head: _Optional[str] = ...) -> None: ...
