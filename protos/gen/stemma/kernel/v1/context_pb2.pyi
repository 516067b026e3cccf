from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Explanation(_message.Message):
    __slots__ = ("entries", "left_out", "tokens_in", "tokens_on_path", "tokens_abandoned", "token_counter", "config_version", "live_version", "context_digest", "missing_variables")
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    LEFT_OUT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_IN_FIELD_NUMBER: _ClassVar[int]
    TOKENS_ON_PATH_FIELD_NUMBER: _ClassVar[int]
    TOKENS_ABANDONED_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNTER_FIELD_NUMBER: _ClassVar[int]
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIVE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    MISSING_VARIABLES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[ContextEntry]
    left_out: _containers.RepeatedCompositeFieldContainer[LeftOut]
    tokens_in: int
    tokens_on_path: int
    tokens_abandoned: int
    token_counter: str
    config_version: str
    live_version: str
    context_digest: str
    missing_variables: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, entries: _Optional[_Iterable[_Union[ContextEntry, _Mapping]]] = ..., left_out: _Optional[_Iterable[_Union[LeftOut, _Mapping]]] = ..., tokens_in: _Optional[int] = ..., tokens_on_path: _Optional[int] = ..., tokens_abandoned: _Optional[int] = ..., token_counter: _Optional[str] = ..., config_version: _Optional[str] = ..., live_version: _Optional[str] = ..., context_digest: _Optional[str] = ..., missing_variables: _Optional[_Iterable[str]] = ...) -> None: ...

class ContextEntry(_message.Message):
    __slots__ = ("floor_id", "page_id", "message_id", "tokens", "why", "memory_id")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    page_id: str
    message_id: str
    tokens: int
    why: str
    memory_id: str
    def __init__(self, floor_id: _Optional[str] = ..., page_id: _Optional[str] = ..., message_id: _Optional[str] = ..., tokens: _Optional[int] = ..., why: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...

class LeftOut(_message.Message):
    __slots__ = ("floor_id", "message_id", "tokens", "why", "memory_id")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    message_id: str
    tokens: int
    why: str
    memory_id: str
    def __init__(self, floor_id: _Optional[str] = ..., message_id: _Optional[str] = ..., tokens: _Optional[int] = ..., why: _Optional[str] = ..., memory_id: _Optional[str] = ...) -> None: ...
