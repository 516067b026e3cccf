"""Keeping pages of other origins out, where nobody needs a credential.

A browser lets any page send simple requests to this machine, and only keeps the answers from it. With a
credential that stops nothing from being safe: no page can make the browser add one. Without (the off mode) a
page could write, so whatever a page of another origin asks to be written is refused. Another page that calls
itself by our address (DNS rebinding) fails at the Host check of `edge`.
"""

from urllib.parse import urlsplit

from google.rpc import code_pb2
from starlette.datastructures import Headers

from gateway.errors import refusal

_READS = {"GET", "HEAD", "OPTIONS"}


def check_origin(method: str, headers: Headers) -> None:
    """Refuses with 403 a write that a browser says comes from a page of another origin. Programs send no
    `Origin`."""
    if method in _READS:
        return
    for origin in headers.getlist("origin"):
        # `null`, of a sandboxed page or a file, has no host and equals none.
        if urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
            raise refusal(
                code_pb2.PERMISSION_DENIED,
                "FORBIDDEN",
                "Pages of other origins may not write: call from a program, or from a page of this host.",
            )
