import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.conversation.v1 import project_service_pb2 as _project_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IntrospectRequest(_message.Message):
    __slots__ = ("authorization", "project_id", "session_id", "floor_id", "tenant", "principal", "memberships")
    AUTHORIZATION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    TENANT_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    MEMBERSHIPS_FIELD_NUMBER: _ClassVar[int]
    authorization: str
    project_id: str
    session_id: str
    floor_id: str
    tenant: str
    principal: str
    memberships: bool
    def __init__(self, authorization: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., tenant: _Optional[str] = ..., principal: _Optional[str] = ..., memberships: _Optional[bool] = ...) -> None: ...

class IntrospectResponse(_message.Message):
    __slots__ = ("tenant_id", "principal", "role", "scopes", "project_role", "project_ids", "credential")
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ROLE_FIELD_NUMBER: _ClassVar[int]
    PROJECT_IDS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    tenant_id: str
    principal: str
    role: _project_service_pb2.MemberRole
    scopes: _containers.RepeatedScalarFieldContainer[str]
    project_role: _project_service_pb2.MemberRole
    project_ids: _containers.RepeatedScalarFieldContainer[str]
    credential: str
    def __init__(self, tenant_id: _Optional[str] = ..., principal: _Optional[str] = ..., role: _Optional[_Union[_project_service_pb2.MemberRole, str]] = ..., scopes: _Optional[_Iterable[str]] = ..., project_role: _Optional[_Union[_project_service_pb2.MemberRole, str]] = ..., project_ids: _Optional[_Iterable[str]] = ..., credential: _Optional[str] = ...) -> None: ...

class ApiKey(_message.Message):
    __slots__ = ("api_key_id", "principal", "role", "scopes", "title", "created_by", "create_time", "expire_time", "revoke_time")
    API_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    REVOKE_TIME_FIELD_NUMBER: _ClassVar[int]
    api_key_id: str
    principal: str
    role: _project_service_pb2.MemberRole
    scopes: _containers.RepeatedScalarFieldContainer[str]
    title: str
    created_by: str
    create_time: _timestamp_pb2.Timestamp
    expire_time: _timestamp_pb2.Timestamp
    revoke_time: _timestamp_pb2.Timestamp
    def __init__(self, api_key_id: _Optional[str] = ..., principal: _Optional[str] = ..., role: _Optional[_Union[_project_service_pb2.MemberRole, str]] = ..., scopes: _Optional[_Iterable[str]] = ..., title: _Optional[str] = ..., created_by: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., revoke_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateApiKeyRequest(_message.Message):
    __slots__ = ("request_id", "principal", "role", "scopes", "title", "expire_time")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    principal: str
    role: _project_service_pb2.MemberRole
    scopes: _containers.RepeatedScalarFieldContainer[str]
    title: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, request_id: _Optional[str] = ..., principal: _Optional[str] = ..., role: _Optional[_Union[_project_service_pb2.MemberRole, str]] = ..., scopes: _Optional[_Iterable[str]] = ..., title: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateApiKeyResponse(_message.Message):
    __slots__ = ("api_key", "secret")
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    api_key: ApiKey
    secret: str
    def __init__(self, api_key: _Optional[_Union[ApiKey, _Mapping]] = ..., secret: _Optional[str] = ...) -> None: ...

class RevokeApiKeyRequest(_message.Message):
    __slots__ = ("request_id", "api_key_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    API_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    api_key_id: str
    def __init__(self, request_id: _Optional[str] = ..., api_key_id: _Optional[str] = ...) -> None: ...

class RevokeApiKeyResponse(_message.Message):
    __slots__ = ("api_key",)
    API_KEY_FIELD_NUMBER: _ClassVar[int]
    api_key: ApiKey
    def __init__(self, api_key: _Optional[_Union[ApiKey, _Mapping]] = ...) -> None: ...

class ListApiKeysRequest(_message.Message):
    __slots__ = ("page_size", "page_token")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListApiKeysResponse(_message.Message):
    __slots__ = ("api_keys", "next_page_token")
    API_KEYS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    api_keys: _containers.RepeatedCompositeFieldContainer[ApiKey]
    next_page_token: str
    def __init__(self, api_keys: _Optional[_Iterable[_Union[ApiKey, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...
