from google.api import annotations_pb2 as _annotations_pb2
from stemma.kernel.v1 import effects_pb2 as _effects_pb2
from stemma.kernel.v1 import floor_pb2 as _floor_pb2
from stemma.kernel.v1 import message_pb2 as _message_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SearchScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SEARCH_SCOPE_UNSPECIFIED: _ClassVar[SearchScope]
    SEARCH_SCOPE_PATH: _ClassVar[SearchScope]
    SEARCH_SCOPE_ALL: _ClassVar[SearchScope]
SEARCH_SCOPE_UNSPECIFIED: SearchScope
SEARCH_SCOPE_PATH: SearchScope
SEARCH_SCOPE_ALL: SearchScope

class AppendFloorRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "input", "output", "effects", "usage")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    input: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    effects: _effects_pb2.Effects
    usage: _floor_pb2.Usage
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., input: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ..., usage: _Optional[_Union[_floor_pb2.Usage, _Mapping]] = ...) -> None: ...

class AppendFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class AppendFloorsRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "input", "output", "effects", "usage", "after_previous")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    AFTER_PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    input: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    effects: _effects_pb2.Effects
    usage: _floor_pb2.Usage
    after_previous: bool
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., input: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ..., usage: _Optional[_Union[_floor_pb2.Usage, _Mapping]] = ..., after_previous: _Optional[bool] = ...) -> None: ...

class AppendFloorsResponse(_message.Message):
    __slots__ = ("request_id", "floor", "branch", "error")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    error: AppendFloorsError
    def __init__(self, request_id: _Optional[str] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ..., error: _Optional[_Union[AppendFloorsError, _Mapping]] = ...) -> None: ...

class AppendFloorsError(_message.Message):
    __slots__ = ("code", "reason", "message", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CODE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    code: int
    reason: str
    message: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, code: _Optional[int] = ..., reason: _Optional[str] = ..., message: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class OpenFloorRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "input")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    input: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., input: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ...) -> None: ...

class OpenFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class AddPageRequest(_message.Message):
    __slots__ = ("request_id", "floor_id", "slot", "messages", "effects", "activate")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    ACTIVATE_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    floor_id: str
    slot: _message_pb2.Slot
    messages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    effects: _effects_pb2.Effects
    activate: bool
    def __init__(self, request_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., slot: _Optional[_Union[_message_pb2.Slot, str]] = ..., messages: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ..., activate: _Optional[bool] = ...) -> None: ...

class AddPageResponse(_message.Message):
    __slots__ = ("page", "floor")
    PAGE_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    page: _message_pb2.Page
    floor: _floor_pb2.Floor
    def __init__(self, page: _Optional[_Union[_message_pb2.Page, _Mapping]] = ..., floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ...) -> None: ...

class ActivatePageRequest(_message.Message):
    __slots__ = ("request_id", "page_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    page_id: str
    def __init__(self, request_id: _Optional[str] = ..., page_id: _Optional[str] = ...) -> None: ...

class ActivatePageResponse(_message.Message):
    __slots__ = ("floor",)
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ...) -> None: ...

class CommitFloorRequest(_message.Message):
    __slots__ = ("request_id", "floor_id", "page_id", "effects", "expected_head")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    floor_id: str
    page_id: str
    effects: _effects_pb2.Effects
    expected_head: str
    def __init__(self, request_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., page_id: _Optional[str] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ..., expected_head: _Optional[str] = ...) -> None: ...

class CommitFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class AbandonFloorRequest(_message.Message):
    __slots__ = ("request_id", "floor_id", "reason")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    floor_id: str
    reason: str
    def __init__(self, request_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class AbandonFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class EditFloorRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "floor_id", "input", "output", "effects")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    input: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    effects: _effects_pb2.Effects
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ..., input: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ...) -> None: ...

class EditFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class RegenerateFloorRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "floor_id", "output", "from_page_id", "effects")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    FROM_PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    EFFECTS_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    output: _containers.RepeatedCompositeFieldContainer[_message_pb2.Message]
    from_page_id: str
    effects: _effects_pb2.Effects
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ..., output: _Optional[_Iterable[_Union[_message_pb2.Message, _Mapping]]] = ..., from_page_id: _Optional[str] = ..., effects: _Optional[_Union[_effects_pb2.Effects, _Mapping]] = ...) -> None: ...

class RegenerateFloorResponse(_message.Message):
    __slots__ = ("floor", "branch")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    branch: _floor_pb2.Branch
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class MoveHeadRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "floor_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ...) -> None: ...

class MoveHeadResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class SelectSiblingRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "floor_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    floor_id: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., floor_id: _Optional[str] = ...) -> None: ...

class SelectSiblingResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class CreateBranchRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "name", "floor_id")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    name: str
    floor_id: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., name: _Optional[str] = ..., floor_id: _Optional[str] = ...) -> None: ...

class CreateBranchResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class DeleteBranchRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ...) -> None: ...

class DeleteBranchResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class ListBranchesRequest(_message.Message):
    __slots__ = ("session_id", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListBranchesResponse(_message.Message):
    __slots__ = ("branches", "next_page_token")
    BRANCHES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    branches: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Branch]
    next_page_token: str
    def __init__(self, branches: _Optional[_Iterable[_Union[_floor_pb2.Branch, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class DiffBranchesRequest(_message.Message):
    __slots__ = ("session_id", "base", "target", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    base: str
    target: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., base: _Optional[str] = ..., target: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class DiffBranchesResponse(_message.Message):
    __slots__ = ("fork_floor", "base_head_floor_id", "target_head_floor_id", "base_count", "target_count", "base_floors", "target_floors", "next_page_token")
    FORK_FLOOR_FIELD_NUMBER: _ClassVar[int]
    BASE_HEAD_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    TARGET_HEAD_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    BASE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TARGET_COUNT_FIELD_NUMBER: _ClassVar[int]
    BASE_FLOORS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FLOORS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    fork_floor: _floor_pb2.Floor
    base_head_floor_id: str
    target_head_floor_id: str
    base_count: int
    target_count: int
    base_floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    target_floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    next_page_token: str
    def __init__(self, fork_floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., base_head_floor_id: _Optional[str] = ..., target_head_floor_id: _Optional[str] = ..., base_count: _Optional[int] = ..., target_count: _Optional[int] = ..., base_floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., target_floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MergeBranchRequest(_message.Message):
    __slots__ = ("request_id", "session_id", "branch", "expected_head", "on_pending", "source_branch")
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_HEAD_FIELD_NUMBER: _ClassVar[int]
    ON_PENDING_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BRANCH_FIELD_NUMBER: _ClassVar[int]
    request_id: str
    session_id: str
    branch: str
    expected_head: str
    on_pending: _floor_pb2.OnPending
    source_branch: str
    def __init__(self, request_id: _Optional[str] = ..., session_id: _Optional[str] = ..., branch: _Optional[str] = ..., expected_head: _Optional[str] = ..., on_pending: _Optional[_Union[_floor_pb2.OnPending, str]] = ..., source_branch: _Optional[str] = ...) -> None: ...

class MergeBranchResponse(_message.Message):
    __slots__ = ("branch",)
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    branch: _floor_pb2.Branch
    def __init__(self, branch: _Optional[_Union[_floor_pb2.Branch, _Mapping]] = ...) -> None: ...

class ListHeadMovesRequest(_message.Message):
    __slots__ = ("session_id", "branch", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    branch: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., branch: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListHeadMovesResponse(_message.Message):
    __slots__ = ("head_moves", "next_page_token")
    HEAD_MOVES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    head_moves: _containers.RepeatedCompositeFieldContainer[_floor_pb2.HeadMove]
    next_page_token: str
    def __init__(self, head_moves: _Optional[_Iterable[_Union[_floor_pb2.HeadMove, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class GetFloorRequest(_message.Message):
    __slots__ = ("floor_id",)
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    def __init__(self, floor_id: _Optional[str] = ...) -> None: ...

class GetFloorResponse(_message.Message):
    __slots__ = ("floor", "position")
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    POSITION_FIELD_NUMBER: _ClassVar[int]
    floor: _floor_pb2.Floor
    position: _floor_pb2.Position
    def __init__(self, floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., position: _Optional[_Union[_floor_pb2.Position, _Mapping]] = ...) -> None: ...

class ListSiblingsRequest(_message.Message):
    __slots__ = ("floor_id", "branch", "page_size", "page_token")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    branch: str
    page_size: int
    page_token: str
    def __init__(self, floor_id: _Optional[str] = ..., branch: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListSiblingsResponse(_message.Message):
    __slots__ = ("floors", "positions", "next_page_token", "current_floor_id")
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    CURRENT_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    positions: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Position]
    next_page_token: str
    current_floor_id: str
    def __init__(self, floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., positions: _Optional[_Iterable[_Union[_floor_pb2.Position, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., current_floor_id: _Optional[str] = ...) -> None: ...

class ListPagesRequest(_message.Message):
    __slots__ = ("floor_id", "page_size", "page_token")
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    floor_id: str
    page_size: int
    page_token: str
    def __init__(self, floor_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPagesResponse(_message.Message):
    __slots__ = ("pages", "next_page_token", "input_page_id", "output_page_id")
    PAGES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INPUT_PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_PAGE_ID_FIELD_NUMBER: _ClassVar[int]
    pages: _containers.RepeatedCompositeFieldContainer[_message_pb2.Page]
    next_page_token: str
    input_page_id: str
    output_page_id: str
    def __init__(self, pages: _Optional[_Iterable[_Union[_message_pb2.Page, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., input_page_id: _Optional[str] = ..., output_page_id: _Optional[str] = ...) -> None: ...

class ListPathRequest(_message.Message):
    __slots__ = ("session_id", "branch", "floor_id", "order", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    branch: str
    floor_id: str
    order: _floor_pb2.PathOrder
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., branch: _Optional[str] = ..., floor_id: _Optional[str] = ..., order: _Optional[_Union[_floor_pb2.PathOrder, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPathResponse(_message.Message):
    __slots__ = ("floors", "positions", "next_page_token", "pending_floor", "head_floor_id")
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    POSITIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PENDING_FLOOR_FIELD_NUMBER: _ClassVar[int]
    HEAD_FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    positions: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Position]
    next_page_token: str
    pending_floor: _floor_pb2.Floor
    head_floor_id: str
    def __init__(self, floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., positions: _Optional[_Iterable[_Union[_floor_pb2.Position, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., pending_floor: _Optional[_Union[_floor_pb2.Floor, _Mapping]] = ..., head_floor_id: _Optional[str] = ...) -> None: ...

class GetTreeRequest(_message.Message):
    __slots__ = ("session_id", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetTreeResponse(_message.Message):
    __slots__ = ("floors", "next_page_token")
    FLOORS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    floors: _containers.RepeatedCompositeFieldContainer[_floor_pb2.Floor]
    next_page_token: str
    def __init__(self, floors: _Optional[_Iterable[_Union[_floor_pb2.Floor, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class SearchMessagesRequest(_message.Message):
    __slots__ = ("session_id", "project_id", "query", "scope", "branch", "page_size", "page_token")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    QUERY_FIELD_NUMBER: _ClassVar[int]
    SCOPE_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    project_id: str
    query: str
    scope: SearchScope
    branch: str
    page_size: int
    page_token: str
    def __init__(self, session_id: _Optional[str] = ..., project_id: _Optional[str] = ..., query: _Optional[str] = ..., scope: _Optional[_Union[SearchScope, str]] = ..., branch: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class SearchHit(_message.Message):
    __slots__ = ("session_id", "floor_id", "message_id", "branch", "role", "snippet")
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    FLOOR_ID_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_ID_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    SNIPPET_FIELD_NUMBER: _ClassVar[int]
    session_id: str
    floor_id: str
    message_id: str
    branch: str
    role: _message_pb2.Role
    snippet: str
    def __init__(self, session_id: _Optional[str] = ..., floor_id: _Optional[str] = ..., message_id: _Optional[str] = ..., branch: _Optional[str] = ..., role: _Optional[_Union[_message_pb2.Role, str]] = ..., snippet: _Optional[str] = ...) -> None: ...

class SearchMessagesResponse(_message.Message):
    __slots__ = ("hits", "next_page_token", "indexed_through")
    HITS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INDEXED_THROUGH_FIELD_NUMBER: _ClassVar[int]
    hits: _containers.RepeatedCompositeFieldContainer[SearchHit]
    next_page_token: str
    indexed_through: int
    def __init__(self, hits: _Optional[_Iterable[_Union[SearchHit, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., indexed_through: _Optional[int] = ...) -> None: ...
