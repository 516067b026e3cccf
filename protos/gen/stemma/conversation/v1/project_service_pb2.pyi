import datetime

from google.api import annotations_pb2 as _annotations_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from stemma.kernel.v1 import config_pb2 as _config_pb2
from stemma.kernel.v1 import project_pb2 as _project_pb2
from stemma.kernel.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class MemberRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MEMBER_ROLE_UNSPECIFIED: _ClassVar[MemberRole]
    MEMBER_ROLE_OBSERVER: _ClassVar[MemberRole]
    MEMBER_ROLE_CONTRIBUTOR: _ClassVar[MemberRole]
    MEMBER_ROLE_OWNER: _ClassVar[MemberRole]
MEMBER_ROLE_UNSPECIFIED: MemberRole
MEMBER_ROLE_OBSERVER: MemberRole
MEMBER_ROLE_CONTRIBUTOR: MemberRole
MEMBER_ROLE_OWNER: MemberRole

class ProjectMember(_message.Message):
    __slots__ = ("project_id", "principal", "role", "create_time", "update_time")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    principal: str
    role: MemberRole
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, project_id: _Optional[str] = ..., principal: _Optional[str] = ..., role: _Optional[_Union[MemberRole, str]] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CreateProjectRequest(_message.Message):
    __slots__ = ("request_id", "title", "config")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    title: str
    config: _config_pb2.Config
    def __init__(self, request_id: _Optional[str] = ..., title: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ...) -> None: ...

class CreateProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: _project_pb2.Project
    def __init__(self, project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ...) -> None: ...

class GetProjectRequest(_message.Message):
    __slots__ = ("project_id",)
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    def __init__(self, project_id: _Optional[str] = ...) -> None: ...

class GetProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: _project_pb2.Project
    def __init__(self, project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ...) -> None: ...

class ListProjectsRequest(_message.Message):
    __slots__ = ("state", "page_size", "page_token")
    STATE_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    state: _session_pb2.SessionState
    page_size: int
    page_token: str
    def __init__(self, state: _Optional[_Union[_session_pb2.SessionState, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListProjectsResponse(_message.Message):
    __slots__ = ("projects", "next_page_token")
    PROJECTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    projects: _containers.RepeatedCompositeFieldContainer[_project_pb2.Project]
    next_page_token: str
    def __init__(self, projects: _Optional[_Iterable[_Union[_project_pb2.Project, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpdateProjectRequest(_message.Message):
    __slots__ = ("request_id", "project_id", "title", "config", "expected_version", "update_mask")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    title: str
    config: _config_pb2.Config
    expected_version: int
    update_mask: _field_mask_pb2.FieldMask
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ..., title: _Optional[str] = ..., config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., expected_version: _Optional[int] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ...) -> None: ...

class UpdateProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: _project_pb2.Project
    def __init__(self, project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ...) -> None: ...

class ArchiveProjectRequest(_message.Message):
    __slots__ = ("request_id", "project_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class ArchiveProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: _project_pb2.Project
    def __init__(self, project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ...) -> None: ...

class RestoreProjectRequest(_message.Message):
    __slots__ = ("request_id", "project_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class RestoreProjectResponse(_message.Message):
    __slots__ = ("project",)
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    project: _project_pb2.Project
    def __init__(self, project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ...) -> None: ...

class SetProjectMemberRequest(_message.Message):
    __slots__ = ("request_id", "project_id", "principal", "role")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    principal: str
    role: MemberRole
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ..., principal: _Optional[str] = ..., role: _Optional[_Union[MemberRole, str]] = ...) -> None: ...

class SetProjectMemberResponse(_message.Message):
    __slots__ = ("member",)
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    member: ProjectMember
    def __init__(self, member: _Optional[_Union[ProjectMember, _Mapping]] = ...) -> None: ...

class RemoveProjectMemberRequest(_message.Message):
    __slots__ = ("request_id", "project_id", "principal")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    principal: str
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ..., principal: _Optional[str] = ...) -> None: ...

class RemoveProjectMemberResponse(_message.Message):
    __slots__ = ("member",)
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    member: ProjectMember
    def __init__(self, member: _Optional[_Union[ProjectMember, _Mapping]] = ...) -> None: ...

class ListProjectMembersRequest(_message.Message):
    __slots__ = ("project_id", "page_size", "page_token")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    page_size: int
    page_token: str
    def __init__(self, project_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListProjectMembersResponse(_message.Message):
    __slots__ = ("members", "next_page_token")
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedCompositeFieldContainer[ProjectMember]
    next_page_token: str
    def __init__(self, members: _Optional[_Iterable[_Union[ProjectMember, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetEffectiveConfigRequest(_message.Message):
    __slots__ = ("project_id", "session_id")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    session_id: str
    def __init__(self, project_id: _Optional[str] = ..., session_id: _Optional[str] = ...) -> None: ...

class GetEffectiveConfigResponse(_message.Message):
    __slots__ = ("config", "sources", "version")
    class SourcesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    config: _config_pb2.Config
    sources: _containers.ScalarMap[str, str]
    version: str
    def __init__(self, config: _Optional[_Union[_config_pb2.Config, _Mapping]] = ..., sources: _Optional[_Mapping[str, str]] = ..., version: _Optional[str] = ...) -> None: ...

class ListConfigVersionsRequest(_message.Message):
    __slots__ = ("project_id", "session_id", "page_size", "page_token")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListConfigVersionsResponse(_message.Message):
    __slots__ = ("config_versions", "next_page_token")
    CONFIG_VERSIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    config_versions: _containers.RepeatedCompositeFieldContainer[_config_pb2.ConfigVersion]
    next_page_token: str
    def __init__(self, config_versions: _Optional[_Iterable[_Union[_config_pb2.ConfigVersion, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetConfigVersionRequest(_message.Message):
    __slots__ = ("project_id", "session_id", "version")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    session_id: str
    version: int
    def __init__(self, project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., version: _Optional[int] = ...) -> None: ...

class GetConfigVersionResponse(_message.Message):
    __slots__ = ("config_version",)
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    config_version: _config_pb2.ConfigVersion
    def __init__(self, config_version: _Optional[_Union[_config_pb2.ConfigVersion, _Mapping]] = ...) -> None: ...

class RestoreConfigVersionRequest(_message.Message):
    __slots__ = ("request_id", "project_id", "session_id", "version", "expected_version")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    project_id: str
    session_id: str
    version: int
    expected_version: int
    def __init__(self, request_id: _Optional[str] = ..., project_id: _Optional[str] = ..., session_id: _Optional[str] = ..., version: _Optional[int] = ..., expected_version: _Optional[int] = ...) -> None: ...

class RestoreConfigVersionResponse(_message.Message):
    __slots__ = ("config_version", "project", "session")
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    config_version: _config_pb2.ConfigVersion
    project: _project_pb2.Project
    session: _session_pb2.Session
    def __init__(self, config_version: _Optional[_Union[_config_pb2.ConfigVersion, _Mapping]] = ..., project: _Optional[_Union[_project_pb2.Project, _Mapping]] = ..., session: _Optional[_Union[_session_pb2.Session, _Mapping]] = ...) -> None: ...
