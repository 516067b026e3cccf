"""Traces across programs, by OpenTelemetry, where its standard variables name a collector
(OTEL_EXPORTER_OTLP_ENDPOINT). Without one nothing of it is even imported.

Spans hold names of methods, codes and models: no ids of people or conversations, and nobody's words.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

Headers = tuple[tuple[str, str], ...]

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class NoTraces(RuntimeError):
    """Traces are asked for, and cannot be made."""


class Traces:
    """Where spans begin and end. Use `traces`, the process's own."""

    def __init__(self) -> None:
        self._tracer: Any = None
        self._provider: Any = None

    @property
    def on(self) -> bool:
        return self._tracer is not None

    @contextmanager
    def through(self, program: str, processor: SpanProcessor | None = None) -> Iterator[None]:
        """While the block lasts: to the collector that the environment names, or to `processor`; without
        either nothing is traced. What is left is sent at the end. Raises NoTraces."""
        if processor is None and not any(os.environ.get(name) for name in _ENDPOINTS):
            yield
            return
        try:
            self._begin(program, processor or _to_collector())
        except ImportError:
            raise NoTraces(
                "OTEL_EXPORTER_OTLP_ENDPOINT is set, and what sends traces is not installed: "
                "install stemma[traces], or unset it."
            ) from None
        try:
            yield
        finally:
            self._provider.shutdown()
            self._tracer = self._provider = None

    def _begin(self, program: str, processor: SpanProcessor) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider

        self._provider = TracerProvider(resource=Resource.create({"service.name": f"stemma.{program}"}))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("stemma")

    @contextmanager
    def serving(self, name: str, headers: Mapping[str, str]) -> Iterator[Span]:
        """A call that this program answers, in the caller's trace if its headers name one."""
        if self._tracer is None:
            yield _NO_SPAN
            return
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parent = TraceContextTextMapPropagator().extract(dict(headers))
        with self._tracer.start_as_current_span(
            name, context=parent, kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            yield Span(span)

    @contextmanager
    def asking(self, name: str) -> Iterator[Span]:
        """Something that this program asks of another, or does: below the span that it is in."""
        if self._tracer is None:
            yield _NO_SPAN
            return
        from opentelemetry.trace import SpanKind

        with self._tracer.start_as_current_span(
            name, kind=SpanKind.CLIENT, record_exception=False, set_status_on_exception=False
        ) as span:
            yield Span(span)

    def headers(self) -> Headers:
        """What tells the next program which span it is asked in."""
        if self._tracer is None:
            return ()
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier)
        return tuple(carrier.items())


class Span:
    def __init__(self, span: Any) -> None:
        self._span = span

    def set(self, name: str, value: str) -> None:
        if self._span is not None:
            self._span.set_attribute(name, value)

    def failed(self) -> None:
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR)

    @property
    def trace_id(self) -> str:
        """32 hexadecimal digits; "" when nothing is traced."""
        return f"{self._span.get_span_context().trace_id:032x}" if self._span is not None else ""


def _to_collector() -> SpanProcessor:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return BatchSpanProcessor(OTLPSpanExporter())


_NO_SPAN = Span(None)
traces = Traces()
