"""The HTTP routes of documents: files that are read once, described, drawn, and used by extractions.

Does: one function for each operation and their table, as in `routes`. Does not: read files (`documents`).
"""

from functools import partial
from typing import Final

from intaglio.schemas.extraction.document_objects import DocumentDeleted, DocumentObject
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..documents.document_store import KeptDocument
from ..documents.parsed_document import PDF
from ..documents.read_source import attachment_of
from ..errors import InvalidBody, UnsupportedDocument
from .document_input import document_object
from .forms import FormFile, is_form, parse_form
from .limits import read_body
from .operations import BUSY_ERRORS, BYTES, KeyScope, Operation, Parameter, endings
from .principal import current_principal
from .routes import document, while_connected
from .service_state import Service

PNG: Final = "image/png"
_DPI: Final = 96
_MOST_DPI: Final = 300
_POINTS_PER_INCH: Final = 72
FORM_BYTES: Final = 64 * 1024
"""Room for what a form has in addition to its file."""


async def create_document(service: Service, request: Request) -> Response:
    """`POST /v1/documents`: read a file and keep it."""
    with service.gate.admit():
        body = await read_body(
            request,
            max_bytes=service.config.max_document_bytes + FORM_BYTES,
            max_seconds=service.config.body_timeout_s,
        )
        file = await _file(request, body)
        reading = service.offload_reading(
            partial(service.document_intake().parse, file.content, "file")
        )
        parsed = await while_connected(request.receive, reading)
        add = partial(service.documents.add, current_principal().tenant, file.name, parsed)
        kept = await service.offload(partial(add, file.content))
    return document(document_object(kept), 201)


async def show_document(service: Service, request: Request) -> Response:
    """`GET /v1/documents/{id}`: the text of a document, its pages and, if asked for, the boxes of its characters."""
    kept = await _kept(service, request)
    boxes = request.query_params.get("boxes", "false")
    if boxes not in ("true", "false"):
        raise InvalidBody("boxes: must be true or false", param="boxes")
    return await service.offload(
        lambda: document(document_object(kept, text=True, boxes=boxes == "true"))
    )


async def show_page(service: Service, request: Request) -> Response:
    """`GET /v1/documents/{id}/pages/{page}`: a page of a PDF as an image."""
    with service.gate.admit():
        number = _number(request.path_params["page"].removesuffix(".png"), "page", 10**6)
        dpi = _number(request.query_params.get("dpi", str(_DPI)), "dpi", _MOST_DPI)
        kept = await _kept(service, request)
        if kept.parsed.media_type != PDF:
            raise UnsupportedDocument(
                "only pages of PDF documents can be drawn", hint="show the text of the document"
            )
        if not 1 <= number <= len(kept.parsed.pages):
            raise InvalidBody(
                f"page: the document has pages 1 to {len(kept.parsed.pages)}", param="page"
            )
        draw = partial(service.reader.draw, kept.content, number, dpi / _POINTS_PER_INCH)
        image = await while_connected(request.receive, service.offload_reading(draw))
    headers = {"cache-control": "private, max-age=3600", "x-content-type-options": "nosniff"}
    return Response(image, media_type=PNG, headers=headers)


async def show_attachment(service: Service, request: Request) -> Response:
    """`GET /v1/documents/{id}/attachments/{index}`: the bytes of an attachment."""
    index = _number(request.path_params["index"], "index", 10**6)
    kept = await _kept(service, request)
    attached = attachment_of(kept.parsed, index, "index")
    headers = {"content-disposition": "attachment", "x-content-type-options": "nosniff"}
    return Response(attached.content, media_type=BYTES, headers=headers)


async def delete_document(service: Service, request: Request) -> Response:
    """`DELETE /v1/documents/{id}`: forget a document."""
    document_id = request.path_params["id"]
    delete = partial(service.documents.delete, current_principal().tenant, document_id)
    await service.offload(delete)
    return document(DocumentDeleted(id=document_id))


async def _kept(service: Service, request: Request) -> KeptDocument:
    find = partial(service.documents.get, current_principal().tenant, request.path_params["id"])
    return await service.offload(find)


async def _file(request: Request, body: bytes) -> FormFile:
    """The file of a request: the field of a form, or the whole body."""
    if not is_form(request):
        name = request.query_params.get("name")
        return FormFile(name[:255] if name else None, body)
    form = await parse_form(request.headers, body, ())
    if form.file is None:
        raise InvalidBody("file: a file is required", param="file")
    return form.file


def _number(text: str, name: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 8 and int(text) <= most):
        raise InvalidBody(f"{name}: must be a whole number up to {most}", param=name)
    return int(text)


DOCUMENT_ERRORS = endings(
    Code.UNREADABLE_DOCUMENT,
    Code.UNSUPPORTED_DOCUMENT,
    Code.ENCRYPTED_DOCUMENT,
    Code.DOCUMENT_TOO_LARGE,
    Code.NO_TEXT_LAYER,
)
_ID = Parameter("id", "path", "The id of a document.")
_of_documents = partial(Operation, scope=KeyScope.EXTRACT, group="Documents")
_MISSING = endings(Code.NOT_FOUND, Code.INVALID_REQUEST, Code.NOT_READY)

OPERATIONS: tuple[Operation, ...] = (
    _of_documents(
        method="POST",
        path="/v1/documents",
        handler=create_document,
        summary="Upload a document",
        description="Reads a PDF, a Word document, a workbook, a page of HTML, a mail or a text, and keeps it for a "
        "day. The body is the file, or a form with the file in `file`. The content decides about the format, not the "
        "declared type.",
        takes_media=BYTES,
        gives=DocumentObject,
        status=201,
        parameters=(Parameter("name", "query", "A name to show, for a body that is the file."),),
        errors=(
            *DOCUMENT_ERRORS,
            *BUSY_ERRORS,
            *endings(Code.INVALID_REQUEST, Code.UNKNOWN_FIELD, Code.BODY_TOO_LARGE),
            (Code.INVALID_REQUEST, 408),
        ),
    ),
    _of_documents(
        method="GET",
        path="/v1/documents/{id}",
        handler=show_document,
        summary="Text and pages of a document",
        gives=DocumentObject,
        parameters=(
            _ID,
            Parameter(
                "boxes", "query", "With the box of each character.", ("true", "false"), "false"
            ),
        ),
        errors=_MISSING,
    ),
    _of_documents(
        method="GET",
        path="/v1/documents/{id}/pages/{page}",
        handler=show_page,
        summary="Image of a page of a PDF",
        gives_media=PNG,
        parameters=(
            _ID,
            Parameter("page", "path", "The number of the page, from 1; `.png` may follow."),
            Parameter("dpi", "query", f"Dots per inch, at most {_MOST_DPI}.", default=str(_DPI)),
        ),
        errors=(*_MISSING, *DOCUMENT_ERRORS, *endings(Code.OVERLOADED)),
    ),
    _of_documents(
        method="GET",
        path="/v1/documents/{id}/attachments/{index}",
        handler=show_attachment,
        summary="Bytes of an attachment of a document",
        gives_media=BYTES,
        parameters=(_ID, Parameter("index", "path", "The number of the attachment, from 0.")),
        errors=_MISSING,
    ),
    _of_documents(
        method="DELETE",
        path="/v1/documents/{id}",
        handler=delete_document,
        summary="Delete a document",
        gives=DocumentDeleted,
        parameters=(_ID,),
        errors=_MISSING,
    ),
)
