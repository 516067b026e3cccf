"""The few answers that are not RPCs: health and the OpenAPI document."""

from google.rpc import code_pb2
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import refusal
from gateway.openapi import document
from gateway.upstream import CONVERSATION, Upstream


def page_routes(upstream: Upstream, *, access: bool) -> list[Route]:
    openapi = document(access=access)

    async def healthz(_: Request) -> Response:
        """Liveness: this process answers."""
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> Response:
        """Readiness: the conversation service says SERVING. Else 503, with whoever does not in the metadata.
        Without the draft service all but drafts goes on, so we are ready, and `absent` says it."""
        absent = await upstream.not_serving()
        if CONVERSATION in absent:
            names = ", ".join(sorted(absent))
            message = f"Not ready: {names}."
            raise refusal(code_pb2.UNAVAILABLE, "UNAVAILABLE", message, metadata=absent)
        return JSONResponse({"status": "ok", **({"absent": sorted(absent)} if absent else {})})

    async def openapi_json(_: Request) -> Response:
        return JSONResponse(openapi)

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/openapi.json", openapi_json),
    ]
