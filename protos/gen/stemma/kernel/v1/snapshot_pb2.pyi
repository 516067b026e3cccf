import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.kernel.v1 import config_pb2 as _config_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SnapshotHeader(_message.Message):
    __slots__ = ("digest", "config", "state", "versions", "project_id", "session_id", "title", "source_floor_id", "base_floor_id", "base_digest", "base_depth", "input_page", "floor_count", "path_tokens", "own_endpoints")
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_DIGEST_FIELD_NUMBER: _ClassVar[int]
    BASE_DEPTH_FIELD_NUMBER: _ClassVar[int]
    INPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_COUNT_FIELD_NUMBER: _ClassVar[int]
    PATH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    OWN_ENDPOINTS_FIELD_NUMBER: _ClassVar[int]
    digest: str
    config: _config_pb2.Config
    state: SnapshotState
    versions: SnapshotVersions
    project_id: str
    session_id: str
    title: str
    source_floor_id: str
    base_floor_id: str
    base_digest: str
    base_depth: int
    input_page: StoredPage
    floor_count: int
    path_tokens: int
    own_endpoints: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, digest: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., state: _Optional[_Union[SnapshotState, _Mapping]] = ..., versions: _Optional[_Union[SnapshotVersions, _Mapping]] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., title: _Optional[str] = ..., source_floor_id: _Optional[str] = ..., base_floor_id: _Optional[str] = ..., base_digest: _Optional[str] = ..., base_depth: _Optional[int] = ..., input_page: _Optional[_Union[StoredPage, _Mapping]] = ..., floor_count: _Optional[int] = ..., path_tokens: _Optional[int] = ..., own_endpoints: _Optional[_Iterable[str]] = ...) -> None: ...

class SnapshotState(_message.Message):
    __slots__ = ("path", "session", "project")
    PATH_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    path: _containers.RepeatedScalarFieldContainer[str]
    session: LiveValues
    project: LiveValues
    def __init__(self, path: _Optional[_Iterable[str]] = ..., session: _Optional[_Union[LiveValues, _Mapping]] = ..., project: _Optional[_Union[LiveValues, _Mapping]] = ...) -> None: ...

class LiveValues(_message.Message):
    __slots__ = ("version", "values")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    version: int
    values: _containers.RepeatedCompositeFieldContainer[LiveValue]
    def __init__(self, version: _Optional[int] = ..., values: _Optional[_Iterable[_Union[LiveValue, _Mapping]]] = ...) -> None: ...

class LiveValue(_message.Message):
    __slots__ = ("key", "value_json", "version", "principal")
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_JSON_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    key: str
    value_json: str
    version: int
    principal: str
    def __init__(self, key: _Optional[str] = ..., value_json: _Optional[str] = ..., version: _Optional[int] = ..., principal: _Optional[str] = ...) -> None: ...

class SnapshotVersions(_message.Message):
    __slots__ = ("config_version", "live_version", "project_version", "session_version")
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    LIVE_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_VERSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_VERSION_FIELD_NUMBER: _ClassVar[int]
    config_version: str
    live_version: str
    project_version: int
    session_version: int
    def __init__(self, config_version: _Optional[str] = ..., live_version: _Optional[str] = ..., project_version: _Optional[int] = ..., session_version: _Optional[int] = ...) -> None: ...

class SnapshotPath(_message.Message):
    __slots__ = ("floors",)
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    floors: _containers.RepeatedCompositeFieldContainer[StoredFloor]
    def __init__(self, floors: _Optional[_Iterable[_Union[StoredFloor, _Mapping]]] = ...) -> None: ...

class StoredFloor(_message.Message):
    __slots__ = ("floor_id", "parent_floor_id", "depth", "input_page", "output_page", "effects", "digest", "path_tokens", "principal", "create_time", "commit_time")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    INPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PAGE_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PATH_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TIME_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    parent_floor_id: str
    depth: int
    input_page: StoredPage
    output_page: StoredPage
    effects: StoredEffects
    digest: bytes
    path_tokens: int
    principal: str
    create_time: _timestamp_pb2.Timestamp
    commit_time: _timestamp_pb2.Timestamp
    def __init__(self, floor_id: _Optional[str] = ..., parent_floor_id: _Optional[str] = ..., depth: _Optional[int] = ..., input_page: _Optional[_Union[StoredPage, _Mapping]] = ..., output_page: _Optional[_Union[StoredPage, _Mapping]] = ..., effects: _Optional[_Union[StoredEffects, _Mapping]] = ..., digest: _Optional[bytes] = ..., path_tokens: _Optional[int] = ..., principal: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., commit_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StoredPage(_message.Message):
    __slots__ = ("page_id", "floor_id", "messages", "facts", "digest", "partial", "source", "create_time")
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    FACTS_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    page_id: str
    floor_id: str
    messages: bytes
    facts: _containers.RepeatedCompositeFieldContainer[StoredFacts]
    digest: bytes
    partial: bool
    source: str
    create_time: _timestamp_pb2.Timestamp
    def __init__(self, page_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., messages: _Optional[bytes] = ..., facts: _Optional[_Iterable[_Union[StoredFacts, _Mapping]]] = ..., digest: _Optional[bytes] = ..., partial: _Optional[bool] = ..., source: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class StoredFacts(_message.Message):
    __slots__ = ("role", "hidden", "token_count", "plain")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    PLAIN_FIELD_NUMBER: _ClassVar[int]
    role: _message_pb2.Role
    hidden: bool
    token_count: int
    plain: bool
    def __init__(self, role: _Optional[_Union[_message_pb2.Role, str]] = ..., hidden: _Optional[bool] = ..., token_count: _Optional[int] = ..., plain: _Optional[bool] = ...) -> None: ...

class StoredEffects(_message.Message):
    __slots__ = ("text", "source", "covered_floor_ids", "digest")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    COVERED_FLOOR_IDS_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    text: bytes
    source: str
    covered_floor_ids: _containers.RepeatedScalarFieldContainer[str]
    digest: bytes
    def __init__(self, text: _Optional[bytes] = ..., source: _Optional[str] = ..., covered_floor_ids: _Optional[_Iterable[str]] = ..., digest: _Optional[bytes] = ...) -> None: ...
