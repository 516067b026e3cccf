"""The parts of a REST request → the request message."""

from collections.abc import Mapping
from typing import Any

from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

from gateway.checks import check_message
from gateway.errors import Refusal, invalid, malformed, over_limit
from gateway.query import query_object, split_query
from gateway.services import Binding
from gateway.strict_json import parse_object
from kernel.errors import Violation
from kernel.rpc.kinds import is_write

# As gRPC servers take it.
MAX_MESSAGE = 4 * 1024 * 1024


def build_request(
    binding: Binding,
    path_values: Mapping[str, str],
    *,
    body: bytes,
    query: bytes,
    idempotency_key: str | None,
) -> Message:
    """The message that the four together mean. Refuses with 400 when they contradict each other or
    any of them is not exactly a part of such a message, with 413 above 4 MiB on the wire."""
    if body and not binding.body:
        raise malformed("This call takes no body.")
    pairs = split_query(query)
    if binding.body:
        message = parse(binding.method.request, parse_object(body))
        extra = parse(binding.method.request, _request_id_only(binding, pairs))
        merge(message, "request_id", getattr(extra, "request_id", ""))
    else:
        message = parse(binding.method.request, query_object(binding.method.input, pairs))
    for name, value in _path_fields(binding, path_values).items():
        merge(message, name, value)
    if idempotency_key is not None and is_write(binding.method.name, binding.method.input):
        merge(message, "request_id", idempotency_key)
    if message.ByteSize() > MAX_MESSAGE:
        raise over_limit("The request is larger than 4 MiB.", 413)
    return message


def parse(kind: type[Message], fields: dict[str, object]) -> Message:
    """The message that the JSON object is, exactly; else 400 with the fields at fault."""
    descriptor: Any = kind.DESCRIPTOR
    violations = check_message(descriptor, fields)
    if violations:
        raise invalid(*violations)
    try:
        return ParseDict(fields, kind())
    except ParseError:
        # The checks have gaps if this is ever reached; the text shows json_format's insides.
        raise malformed("The request is not valid.") from None


def _request_id_only(binding: Binding, pairs: list[tuple[str, str]]) -> dict[str, object]:
    """A call with a body takes one parameter, `requestId`."""
    fields = query_object(binding.method.input, pairs)
    for name in fields:
        if name != "request_id":
            raise invalid(Violation(name, "belongs in the body, not in the query"))
    return fields


def _path_fields(binding: Binding, values: Mapping[str, str]) -> dict[str, object]:
    """Path values by field name, as the field's type."""
    message = parse(binding.method.request, dict(values))
    return {name: getattr(message, name) for name in values}


def merge(message: Message, name: str, value: object) -> None:
    """Sets a field that another part of the request names too; 400 when they differ. Empty means not
    given."""
    if not value or name not in message.DESCRIPTOR.fields_by_name:
        return
    given = getattr(message, name)
    if given and given != value:
        raise _contradiction(name)
    setattr(message, name, value)


def _contradiction(name: str) -> Refusal:
    return invalid(Violation(name, "is given twice, with different values"))
