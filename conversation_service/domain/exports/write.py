"""The way out: a session in one of the formats."""

from collections.abc import Callable, Iterator

from conversation_service.domain.exports import chatgpt, log, oasst, stemma
from conversation_service.domain.exports.model import ExportTree
from kernel.errors import invalid

_WRITERS: dict[str, Callable[[ExportTree], Iterator[bytes]]] = {
    "stemma": stemma.write,
    "oasst": oasst.write,
    "chatgpt": chatgpt.write,
    "log-jsonl": log.write,
}
MEDIA_TYPES = {
    "stemma": "application/jsonl",
    "oasst": "application/jsonl",
    "chatgpt": "application/json",
    "log-jsonl": "application/jsonl",
}


def export(format: str, tree: ExportTree) -> Iterator[bytes]:
    """The file in small pieces. `stemma` holds everything; the others the committed floors, with
    main's head. Raises Invalid for a format that cannot be written."""
    writer = _WRITERS.get(format)
    if writer is None:
        raise invalid("format", f"must be one of {', '.join(_WRITERS)}")
    return writer(tree)
