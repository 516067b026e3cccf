"""Which RPCs write. By the contract each write has a `request_id` (R1); not all that have one write."""

from google.protobuf.descriptor import Descriptor

# Its `request_id` is a filter.
_READS = frozenset({"ListAuditEntries"})


def is_write(name: str, request: Descriptor) -> bool:
    """Whether the RPC of that name and request changes something that somebody asks for. The id of an import
    stands in the header that is its stream's first message."""
    return name not in _READS and (_has_id(request) or any(_has_id(part) for part in _parts(request)))


def _has_id(message: Descriptor) -> bool:
    return "request_id" in message.fields_by_name


def _parts(message: Descriptor) -> list[Descriptor]:
    return [field.message_type for oneof in message.oneofs for field in oneof.fields if field.message_type]
