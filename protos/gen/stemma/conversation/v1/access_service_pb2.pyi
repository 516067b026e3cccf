from stemma.conversation.v1 import project_service_pb2 as _project_service_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class IntrospectRequest(_message.Message):
    __slots__ = ("authorization",)
    AUTHORIZATION_FIELD_NUMBER: _ClassVar[int]
    authorization: str
    def __init__(self, authorization: _Optional[str] = ...) -> None: ...

class IntrospectResponse(_message.Message):
    __slots__ = ("tenant_id", "principal", "role", "scopes")
    TENANT_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SCOPES_FIELD_NUMBER: _ClassVar[int]
    tenant_id: str
    principal: str
    role: _project_service_pb2.MemberRole
    scopes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tenant_id: _Optional[str] = ..., principal: _Optional[str] = ..., role: _Optional[_Union[_project_service_pb2.MemberRole, str]] = ..., scopes: _Optional[_Iterable[str]] = ...) -> None: ...
