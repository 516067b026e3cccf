"""Log lines: JSON on one line, without stored text."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from kernel.rpc.logs import configure_logs


@pytest.fixture
def out() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield io.StringIO()
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


def test_json_lines_carry_what_is_bound_to_the_call(out: io.StringIO) -> None:
    configure_logs(stream=out)
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        structlog.get_logger().info("call", code="OK")
        logging.getLogger("some.library").warning("hm %s", 1)
    ours, theirs = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (ours["event"], ours["level"], ours["code"], ours["request_id"]) == ("call", "info", "OK", "r1")
    assert ours["timestamp"].endswith("Z")
    assert (theirs["event"], theirs["logger"], theirs["request_id"]) == ("hm 1", "some.library", "r1")


def test_a_level_hides_what_is_below_it(out: io.StringIO) -> None:
    configure_logs(stream=out, level="warning")
    structlog.get_logger().info("hidden")
    logging.getLogger("some.library").info("hidden")
    structlog.get_logger().warning("shown")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == ["shown"]


def test_console_lines_are_for_people(out: io.StringIO) -> None:
    configure_logs(stream=out, style="console")
    structlog.get_logger().warning("hello", a=1)
    assert "hello" in out.getvalue()
    assert "a=1" in out.getvalue()


def fail(body: str) -> None:
    secret = body  # a local variable, as a handler's request is
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise RuntimeError("x" * 10_000 + secret) from error


def test_a_traceback_has_its_causes_but_no_locals_and_little_text(out: io.StringIO) -> None:
    configure_logs(stream=out)
    words = "-".join(["words", "of", "a", "user"])
    try:
        fail(words)
    except RuntimeError as error:
        structlog.get_logger().error("unexpected error", exc_info=error)
    line = json.loads(out.getvalue())
    assert "KeyError: 'inner'" in line["exception"]
    assert "in fail" in line["exception"]
    assert "RuntimeError: xxx" in line["exception"]
    assert len(line["exception"]) < 2_000
    assert words not in out.getvalue()
