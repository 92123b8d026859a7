"""The HTTP routes of the page: `/` for browsers, and the files that the page loads.

Does: answer with files of this package under a strict policy, and with the catalogue that the page offers. Does not:
serve data; the page reads that through the same interface as any client, with a key where the server has keys.
"""

import json
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from intaglio.schemas import catalogue
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..errors import RouteNotFound
from ..page.page_assets import INDEX, PageAsset, asset_names, page_asset
from ..page.saved_page import viewer_template
from .operations import JSON, KeyScope, Operation, Parameter, endings
from .service_state import Service

_CATALOGUE: Final = "catalogue.json"
_VIEWER: Final = "viewer.html"
_SAFE_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data: blob:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cache-control": "no-cache",
    }
)


async def index(_service: Service, request: Request) -> Response:
    """`GET /`: the page, if the client takes HTML.

    Raises:
        RouteNotFound: the client is not a browser.
    """
    if "text/html" not in request.headers.get("accept", ""):
        raise RouteNotFound(
            "there is no such path",
            hint="a browser gets a page here; GET /openapi.json lists all paths",
        )
    return _response(request, page_asset(INDEX), {"vary": "accept"})


async def asset(service: Service, request: Request) -> Response:
    """`GET /page/{asset}`: a file that the page loads."""
    name = request.path_params["asset"]
    if name in asset_names():
        return _response(request, page_asset(name))
    if name == _CATALOGUE:
        return _response(request, await service.offload(_catalogue))
    if name == _VIEWER:
        return _response(request, await service.offload(_viewer))
    raise RouteNotFound("the page has no such file", hint="the page is at /")


@cache
def _catalogue() -> PageAsset:
    """The schemas of the catalogue with their samples."""
    entries = (catalogue.get(name) for name in catalogue.names())
    listed = [
        {"name": e.name, "title": e.title, "schema": e.schema, "sample": e.sample} for e in entries
    ]
    return PageAsset.of(json.dumps(listed).encode(), JSON)


@cache
def _viewer() -> PageAsset:
    return PageAsset.of(viewer_template().encode(), "text/html; charset=utf-8")


def _response(request: Request, file: PageAsset, more: Mapping[str, str] | None = None) -> Response:
    """The file, or 304 if the client has it already."""
    headers = {**_SAFE_HEADERS, "etag": f'"{file.digest}"', **(more or {})}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(file.content, headers=headers, media_type=file.media)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="GET",
        path="/",
        handler=index,
        scope=KeyScope.NONE,
        summary="The page for a browser",
        group="Service",
        description="For clients whose `Accept` header names `text/html`. The page calls this interface, with a key "
        "where the server has keys.",
        gives_media="text/html",
        cacheable=True,
        errors=endings(Code.NOT_FOUND),
    ),
    Operation(
        method="GET",
        path="/page/{asset}",
        handler=asset,
        scope=KeyScope.NONE,
        summary="A file of that page",
        group="Service",
        gives_media="text/javascript",
        or_media=("text/css", "text/html", JSON),
        cacheable=True,
        parameters=(Parameter("asset", "path", "Name of the file."),),
        errors=endings(Code.NOT_FOUND),
    ),
)
