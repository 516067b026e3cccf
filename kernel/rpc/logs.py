"""Logs: structlog to stderr, one line each. Requests and stored text are never logged."""

import json
import logging
import sys
import traceback
from typing import Literal, TextIO

import structlog
from structlog.typing import ExcInfo, Processor

# An exception's own words may quote what it choked on: enough to recognise it, no more.
_MAX_EXCEPTION_TEXT = 200


def configure_logs(
    *,
    style: Literal["json", "console"] = "json",
    level: str = "INFO",
    stream: TextIO | None = None,
) -> None:
    """Sends structlog's lines, and those of libraries that use `logging`, to `stream` (stderr)."""
    out = stream or sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.ExceptionRenderer(format_exception),
    ]
    structlog.configure(
        processors=[*shared, _renderer(style)],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(out),
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _renderer(style)],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(max(number, logging.WARNING))


def format_exception(exc_info: ExcInfo) -> str:
    """The traceback with its causes, without local variables, its texts cut to 200 characters."""
    described = traceback.TracebackException(*exc_info, capture_locals=False, compact=True)
    return "".join(_cut(line) for line in described.format()).rstrip("\n")


def _cut(line: str) -> str:
    """Frames (a file, a line number, a line of our source) as they are; all else is text of an exception."""
    is_frame = line.lstrip(" |+-").startswith('File "')
    if is_frame or len(line) <= _MAX_EXCEPTION_TEXT:
        return line
    return f"{line[:_MAX_EXCEPTION_TEXT]}…\n"


def _renderer(style: str) -> Processor:
    if style == "console":
        return structlog.dev.ConsoleRenderer(colors=False)
    # One encoder for all lines: `json.dumps` would make one for each.
    encode = json.JSONEncoder(default=repr).encode
    return lambda _logger, _method, event: encode(event)
