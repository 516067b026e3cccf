from google.api import annotations_pb2 as _annotations_pb2
from google.api import httpbody_pb2 as _httpbody_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from stemma.kernel.v1 import config_pb2 as _config_pb2
from stemma.kernel.v1 import floor_pb2 as _floor_pb2
from stemma.kernel.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SessionOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_ORDER_UNSPECIFIED: _ClassVar[SessionOrder]
    SESSION_ORDER_LAST_ACTIVITY: _ClassVar[SessionOrder]
    SESSION_ORDER_CREATE_TIME: _ClassVar[SessionOrder]
SESSION_ORDER_UNSPECIFIED: SessionOrder
SESSION_ORDER_LAST_ACTIVITY: SessionOrder
SESSION_ORDER_CREATE_TIME: SessionOrder

class CreateSessionRequest(_message.Message):
    __slots__ = ("request_id", "project_id", "title", "config", "greeting_index")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    GREETING_INDEX_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    title: str
    config: _config_pb2.Config
    greeting_index: int
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ..., title: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., greeting_index: _Optional[int] = ...) -> None: ...

class CreateSessionResponse(_message.Message):
    __slots__ = ("session", "branch")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    branch: _floor_pb2.Branch
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class GetSessionRequest(_message.Message):
    __slots__ = ("session_id",)
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    def __init__(self, session_id: _Optional[str] = ...) -> None: ...

class GetSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ("project_id", "state", "order", "page_size", "page_token")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    state: _session_pb2.SessionState
    order: SessionOrder
    page_size: int
    page_token: str
    def __init__(self, project_id: _Optional[str] = ..., state: _Optional[_Union[_session_pb2.SessionState, str]] = ..., order: _Optional[_Union[SessionOrder, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ("sessions", "next_page_token")
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    sessions: _containers.RepeatedCompositeFieldContainer[_session_pb2.Session]
    next_page_token: str
    def __init__(self, sessions: _Optional[_Iterable[_Union[_session_pb2.Session, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "title", "config", "expected_version", "update_mask")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    title: str
    config: _config_pb2.Config
    expected_version: int
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., title: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., expected_version: _Optional[int] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UpdateSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...

class ArchiveSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class ArchiveSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...

class RestoreSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class RestoreSessionResponse(_message.Message):
    __slots__ = ("session",)
    SESSION_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...

class DeleteSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class Erased(_message.Message):
    __slots__ = ("store", "rows")
    STORE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    store: str
    rows: int
    def __init__(self, store: _Optional[str] = ..., rows: _Optional[int] = ...) -> None: ...

class DeleteSessionResponse(_message.Message):
    __slots__ = ("receipt",)
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    receipt: _containers.RepeatedCompositeFieldContainer[Erased]
    def __init__(self, receipt: _Optional[_Iterable[_Union[Erased, _Mapping]]] = ...) -> None: ...

class ForkSessionRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "floor_id", "title")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    floor_id: str
    title: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., title: _Optional[str] = ...) -> None: ...

class ForkSessionResponse(_message.Message):
    __slots__ = ("session", "branch")
    SESSION_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    session: _session_pb2.Session
    branch: _floor_pb2.Branch
    def __init__(self, session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class ImportSessionsRequest(_message.Message):
    __slots__ = ("header", "chunk")
    HEADER_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    header: ImportHeader
    chunk: bytes
    def __init__(self, header: _Optional[_Union[ImportHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class ImportHeader(_message.Message):
    __slots__ = ("request_id", "format", "file_name", "project_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    format: str
    file_name: str
    project_id: str
    def __init__(self, request_id: _Optional[str] = ..., format: _Optional[str] = ..., file_name: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class ImportSessionsResponse(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: ImportResult
    def __init__(self, result: _Optional[_Union[ImportResult, _Mapping]] = ...) -> None: ...

class ImportResult(_message.Message):
    __slots__ = ("index", "title", "session_id", "floors", "messages", "warnings", "error", "log_tokens")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LOG_TOKENS_FIELD_NUMBER: _ClassVar[int]
    index: int
    title: str
    session_id: str
    floors: int
    messages: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    error: ImportFailure
    log_tokens: LogTokens
    def __init__(self, index: _Optional[int] = ..., title: _Optional[str] = ..., session_id: _Optional[str] = ..., floors: _Optional[int] = ..., messages: _Optional[int] = ..., warnings: _Optional[_Iterable[str]] = ..., error: _Optional[_Union[ImportFailure, _Mapping]] = ..., log_tokens: _Optional[_Union[LogTokens, _Mapping]] = ...) -> None: ...

class ImportFailure(_message.Message):
    __slots__ = ("reason", "message")
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    reason: str
    message: str
    def __init__(self, reason: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class LogTokens(_message.Message):
    __slots__ = ("calls", "log_sent", "tree_sent", "log_next", "tree_next")
    CALLS_FIELD_NUMBER: _ClassVar[int]
    LOG_SENT_FIELD_NUMBER: _ClassVar[int]
    TREE_SENT_FIELD_NUMBER: _ClassVar[int]
    LOG_NEXT_FIELD_NUMBER: _ClassVar[int]
    TREE_NEXT_FIELD_NUMBER: _ClassVar[int]
    calls: int
    log_sent: int
    tree_sent: int
    log_next: int
    tree_next: int
    def __init__(self, calls: _Optional[int] = ..., log_sent: _Optional[int] = ..., tree_sent: _Optional[int] = ..., log_next: _Optional[int] = ..., tree_next: _Optional[int] = ...) -> None: ...

class ExportSessionRequest(_message.Message):
    __slots__ = ("session_id", "format")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    format: str
    def __init__(self, session_id: _Optional[str] = ..., format: _Optional[str] = ...) -> None: ...

class ExportSessionResponse(_message.Message):
    __slots__ = ("file",)
    FILE_FIELD_NUMBER: _ClassVar[int]
    file: _httpbody_pb2.HttpBody
    def __init__(self, file: _Optional[_Union[_httpbody_pb2.HttpBody, _Mapping]] = ...) -> None: ...
