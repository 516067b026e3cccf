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
    receipt: _containers.RepeatedCompositeFieldContainer[Erased]
    def __init__(self, receipt: _Optional[_Iterable[_Union[Erased, _Mapping]]] = ...) -> None: ...

class Erased(_message.Message):
    __slots__ = ("store", "rows")
    STORE_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    store: str
    rows: int
    def __init__(self, store: _Optional[str] = ..., rows: _Optional[int] = ...) -> None: ...
