"""The wiring."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from gateway.edge import Edge, error_response
from gateway.errors import malformed, no_such_path
from gateway.handler import Transcoder
from gateway.pages import page_routes
from gateway.services import files
from gateway.settings import Settings
from gateway.static import console_routes
from gateway.upstream import Upstream, by_package
from kernel.rpc.tls import channel_credentials
from kernel.telemetry.endpoint import metrics_served
from kernel.telemetry.metrics import Metrics


def build(settings: Settings) -> Starlette:
    """The application; its channels are open while its lifespan runs. ValueError when the contract
    has something that the gateway cannot serve, BadCertificates for files of TLS that cannot be read."""
    addresses = by_package({file.package for file in files()}, settings.conversation, settings.draft)
    figures = Metrics() if settings.gateway_metrics else None
    upstream = Upstream(
        addresses, call_timeout=settings.gateway_call_timeout, credentials=channel_credentials(settings.tls)
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with (
            upstream,
            metrics_served(settings.gateway_metrics, figures.text if figures else bytes) as at,
        ):
            app.state.metrics = at
            yield

    app = Starlette(
        routes=[*page_routes(upstream, access=settings.access_on), *console_routes()],
        middleware=[Middleware(Edge, host_names=settings.host_names, same_origin=not settings.access_on)],
        exception_handlers={HTTPException: _page_error},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.router.default = Transcoder(settings, upstream, figures)
    return app


async def _page_error(_: Request, error: Exception) -> Response:
    """Starlette's own refusals of the fixed pages."""
    assert isinstance(error, HTTPException)  # as registered
    if error.status_code == 405:
        headers = {key.lower(): value for key, value in (error.headers or {}).items()}
        return error_response(malformed(f"This path takes {headers['allow']}.", http=405, headers=headers))
    return error_response(no_such_path())
