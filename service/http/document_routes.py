"""The HTTP routes that describe the interface: `/openapi.json`, and `/docs`, a page that shows it.

Does: answer with the OpenAPI document of a set of operations, and with the files of the page, all of them from this
package. Does not: build the document (`openapi`), or load anything from another host. The page is Swagger UI
(Apache-2.0); `docs_page/origin.json` has its version and the digests of its files.
"""

import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..errors import RouteNotFound
from .openapi import document
from .operations import JSON, KeyScope, Operation, Parameter, endings
from .service_state import Service

HTML = "text/html; charset=utf-8"

_PAGE = "docs.html"
_ASSETS: Mapping[str, str] = MappingProxyType(
    {
        "docs.css": "text/css; charset=utf-8",
        "docs.js": "text/javascript; charset=utf-8",
        "swagger-ui.css": "text/css; charset=utf-8",
        "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    }
)
# No script or style but the files of this package; Swagger UI sets style attributes and draws with data: images.
_SAFE_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
    }
)


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file of the page: its bytes, whether they are compressed with gzip, and a digest of them."""

    content: bytes
    is_compressed: bool
    digest: str


@cache
def page_file(name: str) -> PageFile:
    """Read a file of the page. Large ones are stored compressed."""
    folder = files(__package__) / "docs_page"
    packed = folder / f"{name}.gz"
    is_compressed = packed.is_file()
    content = (packed if is_compressed else folder / name).read_bytes()
    return PageFile(content, is_compressed, hashlib.sha256(content).hexdigest()[:32])


def page_response(request: Request, name: str, media: str) -> Response:
    """A file of the page: 304 if the client has it already, compressed if the client takes that."""
    file = page_file(name)
    takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
    as_stored = takes_gzip or not file.is_compressed
    tag = f'"{file.digest}{"" if as_stored else "-plain"}"'
    headers = {**_SAFE_HEADERS, "etag": tag, "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if file.is_compressed and as_stored:
        headers["content-encoding"] = "gzip"
    body = file.content if as_stored else gzip.decompress(file.content)
    return Response(body, headers=headers, media_type=media)


async def docs(_service: Service, request: Request) -> Response:
    """`GET /docs`: the page."""
    return page_response(request, _PAGE, HTML)


async def docs_asset(_service: Service, request: Request) -> Response:
    """`GET /docs/{asset}`: a script or style sheet of the page."""
    name = request.path_params["asset"]
    if name not in _ASSETS:
        raise RouteNotFound("the page has no such file", hint=f"there are {', '.join(_ASSETS)}")
    return page_response(request, name, _ASSETS[name])


def documented(operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """`operations` and those that describe them all, themselves included."""

    @cache
    def text() -> str:
        return json.dumps(document(complete))

    async def openapi(service: Service, _request: Request) -> Response:
        return Response(await service.offload(text), media_type=JSON)

    complete = (
        *operations,
        Operation(
            method="GET",
            path="/openapi.json",
            handler=openapi,
            scope=KeyScope.ANY,
            summary="The OpenAPI document of this interface",
            group="Service",
            description="OpenAPI 3.1, for client generators.",
        ),
        Operation(
            method="GET",
            path="/docs",
            handler=docs,
            scope=KeyScope.NONE,
            summary="This interface as a page for a browser",
            group="Service",
            description="Works offline. On a server with keys the page asks for one before it shows anything.",
            gives_media="text/html",
            cacheable=True,
        ),
        Operation(
            method="GET",
            path="/docs/{asset}",
            handler=docs_asset,
            scope=KeyScope.NONE,
            summary="A script or style sheet of that page",
            group="Service",
            gives_media="text/javascript",
            or_media=("text/css",),
            cacheable=True,
            parameters=(Parameter("asset", "path", "Name of the file.", tuple(_ASSETS)),),
            errors=endings(Code.NOT_FOUND),
        ),
    )
    return complete
