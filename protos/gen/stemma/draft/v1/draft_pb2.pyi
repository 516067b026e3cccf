import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DraftPosition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DRAFT_POSITION_UNSPECIFIED: _ClassVar[DraftPosition]
    DRAFT_POSITION_AFTER_FLOOR: _ClassVar[DraftPosition]
    DRAFT_POSITION_REPLY_TO_FLOOR: _ClassVar[DraftPosition]

class RetentionPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RETENTION_POLICY_UNSPECIFIED: _ClassVar[RetentionPolicy]
    RETENTION_POLICY_DELETE_ON_FINALIZE: _ClassVar[RetentionPolicy]
    RETENTION_POLICY_KEEP_FOR_DEBUG: _ClassVar[RetentionPolicy]
    RETENTION_POLICY_TTL: _ClassVar[RetentionPolicy]

class Visibility(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VISIBILITY_UNSPECIFIED: _ClassVar[Visibility]
    VISIBILITY_CLIENT_VISIBLE: _ClassVar[Visibility]
    VISIBILITY_INTERNAL: _ClassVar[Visibility]

class DraftState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DRAFT_STATE_UNSPECIFIED: _ClassVar[DraftState]
    DRAFT_STATE_ACTIVE: _ClassVar[DraftState]
    DRAFT_STATE_FINALIZED: _ClassVar[DraftState]
    DRAFT_STATE_DISCARDED: _ClassVar[DraftState]
    DRAFT_STATE_CANCELLED: _ClassVar[DraftState]
    DRAFT_STATE_EXPIRED: _ClassVar[DraftState]

class ExportState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXPORT_STATE_UNSPECIFIED: _ClassVar[ExportState]
    EXPORT_STATE_PENDING: _ClassVar[ExportState]
    EXPORT_STATE_STAGED: _ClassVar[ExportState]
    EXPORT_STATE_FAILED: _ClassVar[ExportState]
DRAFT_POSITION_UNSPECIFIED: DraftPosition
DRAFT_POSITION_AFTER_FLOOR: DraftPosition
DRAFT_POSITION_REPLY_TO_FLOOR: DraftPosition
RETENTION_POLICY_UNSPECIFIED: RetentionPolicy
RETENTION_POLICY_DELETE_ON_FINALIZE: RetentionPolicy
RETENTION_POLICY_KEEP_FOR_DEBUG: RetentionPolicy
RETENTION_POLICY_TTL: RetentionPolicy
VISIBILITY_UNSPECIFIED: Visibility
VISIBILITY_CLIENT_VISIBLE: Visibility
VISIBILITY_INTERNAL: Visibility
DRAFT_STATE_UNSPECIFIED: DraftState
DRAFT_STATE_ACTIVE: DraftState
DRAFT_STATE_FINALIZED: DraftState
DRAFT_STATE_DISCARDED: DraftState
DRAFT_STATE_CANCELLED: DraftState
DRAFT_STATE_EXPIRED: DraftState
EXPORT_STATE_UNSPECIFIED: ExportState
EXPORT_STATE_PENDING: ExportState
EXPORT_STATE_STAGED: ExportState
EXPORT_STATE_FAILED: ExportState

class DraftOrigin(_message.Message):
    __slots__ = ("run_id", "parent_draft_id")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    parent_draft_id: str
    def __init__(self, run_id: _Optional[str] = ..., parent_draft_id: _Optional[str] = ...) -> None: ...

class Draft(_message.Message):
    __slots__ = ("draft_id", "project_id", "source_session_id", "source_floor_id", "snapshot_digest", "config_digest", "title", "purpose", "state", "retention_policy", "visibility", "metadata", "origin", "created_by", "ended_by", "end_reason", "create_time", "update_time", "last_activity_time", "expire_time", "end_time", "purge_time")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DRAFT_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    CONFIG_DIGEST_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    RETENTION_POLICY_FIELD_NUMBER: _ClassVar[int]
    VISIBILITY_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    ENDED_BY_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_ACTIVITY_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    PURGE_TIME_FIELD_NUMBER: _ClassVar[int]
    draft_id: str
    project_id: str
    source_session_id: str
    source_floor_id: str
    snapshot_digest: str
    config_digest: str
    title: str
    purpose: str
    state: DraftState
    retention_policy: RetentionPolicy
    visibility: Visibility
    metadata: _containers.ScalarMap[str, str]
    origin: DraftOrigin
    created_by: str
    ended_by: str
    end_reason: str
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    last_activity_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    end_time: _timestamp_pb2.Timestamp
    purge_time: _timestamp_pb2.Timestamp
    def __init__(self, draft_id: _Optional[str] = ..., project_id: _Optional[str] = ..., source_session_id: _Optional[str] = ..., source_floor_id: _Optional[str] = ..., snapshot_digest: _Optional[str] = ..., config_digest: _Optional[str] = ..., title: _Optional[str] = ..., purpose: _Optional[str] = ..., state: _Optional[_Union[DraftState, str]] = ..., retention_policy: _Optional[_Union[RetentionPolicy, str]] = ..., visibility: _Optional[_Union[Visibility, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., origin: _Optional[_Union[DraftOrigin, _Mapping]] = ..., created_by: _Optional[str] = ..., ended_by: _Optional[str] = ..., end_reason: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., last_activity_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., purge_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...
