"""The console's files, at `/console/`, with the headers that hold a browser to them.

The page names its files below a digest of them all. So they may be kept for ever, a visit is one request, and
an upgrade never mixes old modules with new ones. It may load scripts and styles from here alone, speak to
this server alone, and turn no text into markup (`trusted-types 'none'`).
"""

import base64
import hashlib
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER = Path(__file__).with_name("console")
# By ourselves: what a system's own table says of them differs from one machine to the next.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_LOCAL = re.compile(r'(?<=")(?:\./)?(?=(?:app|css|vendor)/|icon\.svg"|theme\.js")')
_INLINE = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)


def digest_of(folder: Path) -> str:
    """Names the content of every file in a folder: 16 hex digits."""
    sums = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            sums.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return sums.hexdigest()[:16]


def page_of(folder: Path, digest: str) -> str:
    """index.html with its files below the digest, and every module announced: none waits for another."""
    page = _LOCAL.sub(f"./{digest}/", (folder / "index.html").read_text("utf-8"))
    modules = sorted(path.relative_to(folder).as_posix() for path in (folder / "app").rglob("*.js"))
    links = "".join(f'    <link rel="modulepreload" href="./{digest}/{one}" />\n' for one in modules)
    return page.replace("  </head>", f"{links}  </head>")


def content_security_policy(page: str) -> str:
    """The policy for an HTML page: its import map by its digest, and otherwise what this server serves."""
    scripts = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in _INLINE.findall(page)
    ]
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *scripts)),
            "style-src 'self'",
            # data: is what a message itself carries; nothing is fetched for it.
            "img-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


class _Files(StaticFiles):
    """GET and HEAD below the digest. Another content would have another path."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(
            {
                **_HEADERS,
                "cache-control": "public, max-age=31536000, immutable",
                "content-security-policy": _INERT,
            }
        )
        kind = _TYPES.get(Path(getattr(response, "path", "")).suffix)
        if kind is not None:
            response.headers["content-type"] = kind
        return response


# A file that is opened by itself may do nothing.
_INERT = "default-src 'none'; frame-ancestors 'none'; sandbox"


def console_routes() -> list[BaseRoute]:
    digest = digest_of(FOLDER)
    page = page_of(FOLDER, digest)
    headers = {
        **_HEADERS,
        "cache-control": "no-cache",
        "content-security-policy": content_security_policy(page),
        "etag": f'"{digest}"',
    }

    async def console(request: Request) -> Response:
        if headers["etag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(page, media_type="text/html", headers=headers)

    async def to_console(_: Request) -> Response:
        return RedirectResponse("/console/", status_code=308)

    return [
        Route("/console", to_console),
        Route("/console/", console),
        Mount(f"/console/{digest}", _Files(directory=FOLDER)),
    ]
