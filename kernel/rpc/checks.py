"""Checks of single fields, for servicers: each gives the value to use, or raises Invalid.

`Gather` collects the violations of several checks into one answer.
"""

import re
from collections.abc import Callable, Collection
from types import TracebackType
from typing import ParamSpec, Protocol, TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor

from kernel.errors import Invalid, Violation, invalid
from kernel.strict_json import NotJson, loads

_P = ParamSpec("_P")
_T = TypeVar("_T")

_HEX = "[0-9a-fA-F]"
_UUID = re.compile(f"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}")
_POSITION = re.compile(r"([1-9][0-9]{0,17})\.([0-9]{1,18})")
_ZERO = "00000000-0000-0000-0000-000000000000"
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class EnumWrapper(Protocol):
    """An enum as the generated modules have it (`message_pb2.Role`)."""

    @property
    def DESCRIPTOR(self) -> EnumDescriptor: ...


class Gather:
    """Collects the violations of several checks: raises one Invalid at the end of its block.

        with Gather() as check:
            session_id = check(uuid_field, request.session_id, "session_id")
            branch = check(branch_name, request.branch)

    Results are to be used after the block only: a check that failed has none.
    """

    def __init__(self) -> None:
        self._violations: list[Violation] = []

    def __call__(self, check: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return check(*args, **kwargs)
        except Invalid as error:
            self._violations.extend(error.violations)
            return cast(_T, None)

    def __enter__(self) -> "Gather":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self._violations:
            raise Invalid(*self._violations)


def uuid_field(value: str, field: str, *, required: bool = True, also: Collection[str] = ()) -> str:
    """An id: a UUID of 8-4-4-4-12 hex digits, given in lower case.

    Empty gives `""` when it is not required; `also` names words that pass as they are (the project
    `default`).
    """
    if (not value and not required) or (value and value in also):
        return value
    if not _UUID.fullmatch(value):
        raise invalid(field, "must be a UUID: 8-4-4-4-12 hexadecimal digits" if value else "is required")
    return value.lower()


def is_uuid(value: str) -> bool:
    return _UUID.fullmatch(value) is not None


def request_id(value: str, field: str = "request_id") -> str:
    """The id that makes a write repeatable (R1): required, a UUID, not the zero one."""
    canonical = uuid_field(value, field)
    if canonical == _ZERO:
        raise invalid(field, "must not be the zero UUID")
    return canonical


def branch_name(value: str, default: str = "main", field: str = "branch") -> str:
    """A branch's name; empty gives `default`, and is refused when that is empty."""
    if not value and default:
        return default
    if not _BRANCH.fullmatch(value):
        raise invalid(
            field, "must be 1-64 ASCII letters, digits, '.', '_' and '-', the first a letter or digit"
        )
    return value


def text_field(value: str, field: str, *, maximum: int, required: bool = False) -> str:
    """A text of at most `maximum` characters, without NUL, which no database keeps."""
    if required and not value:
        raise invalid(field, "is required")
    if len(value) > maximum:
        raise invalid(field, f"must have at most {maximum} characters")
    if "\0" in value:
        raise invalid(field, "must not contain NUL")
    return value


def reason(value: str, field: str = "reason", *, required: bool = False) -> str:
    """Somebody's words for a decision: 1-500 characters, or none where it is optional."""
    return text_field(value, field, maximum=500, required=required)


def page_size(value: int, default: int = 100, maximum: int = 1_000, field: str = "page_size") -> int:
    """How many to list: 0 is `default`, more than `maximum` is `maximum`."""
    if value < 0:
        raise invalid(field, "must not be negative")
    return min(value, maximum) or default


def run_position(value: str, field: str) -> tuple[int, int]:
    """A position of a run, `<epoch>.<seq>`; empty is the one before its first frame, (0, 0)."""
    if not value:
        return 0, 0
    match = _POSITION.fullmatch(value)
    if match is None:
        raise invalid(field, "must be a position of a run: <epoch>.<seq>")
    return int(match[1]), int(match[2])


def enum_field(value: int, enum: EnumDescriptor | EnumWrapper, field: str, default: int | None = None) -> int:
    """A number that the enum knows. 0 (unspecified) gives `default`, and is refused without one."""
    if value == 0:
        if default is None:
            raise invalid(field, "is required")
        return default
    # The two libraries' descriptors share no type that says they have DESCRIPTOR.
    descriptor = enum if isinstance(enum, EnumDescriptor) else enum.DESCRIPTOR
    if value not in descriptor.values_by_number:
        raise invalid(field, f"is not a known {descriptor.name}")
    return value


def json_text(value: str, field: str, *, required: bool = True) -> str:
    """JSON text, checked (see kernel.strict_json) and given back as it came."""
    if not value:
        if required:
            raise invalid(field, "is required")
        return value
    try:
        loads(value)
    except NotJson as error:
        raise invalid(field, str(error)) from None
    return value
