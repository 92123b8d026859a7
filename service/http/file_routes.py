"""The HTTP routes of files: uploads under a name, and files with an id as OpenAI's clients know them.

Does: one function for each operation and their table, as in `routes`. Does not: store files (`jobs.folder`,
`batches.client_files`). A server has files only if it was started with a data folder.
"""

from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

import pydantic
from intaglio.schemas.openai.batches import (
    MAX_EXPIRY_S,
    MIN_EXPIRY_S,
    FileDeleted,
    FileList,
    FileObject,
    Purpose,
)
from intaglio.schemas.problem import Code
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ..errors import BodyTooLarge, ClientDisconnected, InvalidBody, RouteNotFound, UnknownField
from .job_routes import job_host
from .operations import BYTES, NO_RANGE, KeyScope, Operation, Parameter, endings
from .principal import current_principal
from .routes import document, page_limit
from .sent_file import SentFile
from .service_state import Service

if TYPE_CHECKING:
    from ..batches.batch_host import BatchHost

T = TypeVar("T")

_CHUNK: Final = 1 << 20
_MOST_FILES: Final = 10_000  # of a page
_MAX_FIELD_BYTES: Final = 64 * 1024
_EXPIRY_FIELDS: Final = ("expires_after[anchor]", "expires_after[seconds]")
_FIELDS: Final = ("file", "purpose", *_EXPIRY_FIELDS)
_BATCH_EXPIRY_S: Final = MAX_EXPIRY_S  # input files of batches expire


def batch_host(service: Service) -> "BatchHost":
    """The files and batches of this server.

    Raises:
        RouteNotFound: the server has no data folder.
    """
    if service.batches is None:
        raise RouteNotFound(
            "this server keeps no files",
            hint="start it with a data folder: intaglio serve --data DIR",
        )
    return service.batches


async def put_file(service: Service, request: Request) -> Response:
    """`PUT /v1/files/{name}`: store a file; replaces a file of that name."""
    from ..jobs.owners import stored_name

    jobs, known, name = job_host(service), batch_host(service).files, request.path_params["name"]
    tenant = current_principal().tenant
    with service.gate.admit():
        if await service.offload(partial(known.is_registered, name)):
            raise InvalidBody(
                "a file with an id cannot be replaced",
                param="name",
                hint="choose another name, or delete the file first",
            )
        await jobs.files.save(stored_name(tenant, name), body_chunks(request))
    found = await service.offload(partial(known.file, name, tenant))
    return document(found, 201)


async def create_file(service: Service, request: Request) -> Response:
    """`POST /v1/files`: store a file with a purpose, sent as a form; gives it an id."""
    files, tenant = batch_host(service).files, current_principal().tenant
    with service.gate.admit():
        form = await _form(request, service.config.max_data_bytes)
        try:
            _require_known_fields(form)
            upload = form.get("file")
            if not isinstance(upload, UploadFile):
                raise InvalidBody("file: a file is required", param="file")
            purpose = _purpose(form)
            expiry = _expiry(form, purpose)
            file_id = await files.add(
                _file_chunks(upload),
                tenant=tenant,
                filename=(upload.filename or "upload")[:255],
                purpose=purpose,
                expires_after_s=expiry,
            )
        finally:
            await form.close()
    return document(await service.offload(partial(files.file, file_id, tenant)))


async def list_files(service: Service, request: Request) -> Response:
    """`GET /v1/files`: all files, newest first."""
    files = batch_host(service).files
    purpose, after = request.query_params.get("purpose"), request.query_params.get("after")
    limit, order = page_limit(request, _MOST_FILES, _MOST_FILES), _order(request)
    found = await service.offload(partial(files.files, current_principal().tenant))
    if order == "asc":
        found.reverse()
    if purpose is not None:
        found = [file for file in found if file.purpose == purpose]
    if after is not None:
        ids = [file.id for file in found]
        if after not in ids:
            raise InvalidBody("after: there is no such file", param="after")
        found = found[ids.index(after) + 1 :]
    page = found[:limit]
    return document(
        FileList(
            data=page,
            first_id=page[0].id if page else None,
            last_id=page[-1].id if page else None,
            has_more=len(found) > limit,
        )
    )


async def show_file(service: Service, request: Request) -> Response:
    """`GET /v1/files/{name}`: the description of a file."""
    find = partial(batch_host(service).files.file, request.path_params["name"])
    return document(await service.offload(partial(find, current_principal().tenant)))


async def read_file(service: Service, request: Request) -> Response:
    """`GET /v1/files/{name}/content`: the bytes of a file."""
    files, name = batch_host(service).files, request.path_params["name"]
    tenant = current_principal().tenant
    described = await service.offload(partial(files.file, name, tenant))
    path = await service.offload(partial(files.path, name, tenant))
    return SentFile(path, media=BYTES, filename=described.filename)


async def delete_file(service: Service, request: Request) -> Response:
    """`DELETE /v1/files/{name}`: delete a file. Rows that were read from it remain."""
    name = request.path_params["name"]
    delete = partial(batch_host(service).files.delete, name, current_principal().tenant)
    await service.offload(delete)
    return document(FileDeleted(id=name))


async def body_chunks(request: Request) -> AsyncIterator[bytes]:
    """The body as it arrives. Raises `ClientDisconnected` if the client disconnects."""
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        raise ClientDisconnected("the client disconnected before its file had arrived") from None


def _order(request: Request) -> Literal["asc", "desc"]:
    given = request.query_params.get("order", "desc")
    if given not in ("asc", "desc"):
        raise InvalidBody("order: must be asc or desc", param="order")
    return "asc" if given == "asc" else "desc"


async def _form(request: Request, max_bytes: int) -> FormData:
    """The form in a body of at most `max_bytes`; its file is on disk if it is large.

    Raises:
        InvalidBody: the body is not a form, or has too many parts.
        BodyTooLarge, ClientDisconnected: as for other bodies.
    """
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InvalidBody(
            "the body must be a form with a file",
            hint="send multipart/form-data with the fields file and purpose; or PUT /v1/files/NAME",
        )
    parser = MultiPartParser(
        request.headers,
        _bounded(body_chunks(request), max_bytes),
        max_files=1,
        max_fields=8,
        max_part_size=_MAX_FIELD_BYTES,
    )
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise InvalidBody(f"the body is not a form: {error.message}") from None
    except (KeyError, ValueError, UnicodeError, LookupError):
        raise InvalidBody("the body is not a form: its content-type cannot be read") from None


async def _bounded(chunks: AsyncIterator[bytes], max_bytes: int) -> Any:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > max_bytes:
            raise BodyTooLarge(
                f"the file is larger than {max_bytes} bytes",
                hint="send a smaller file, or raise the server's max_data_bytes",
            )
        yield chunk


async def _file_chunks(upload: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await upload.read(_CHUNK):
        yield chunk


def _require_known_fields(form: FormData) -> None:
    """Refuse fields that would be ignored. Raises `UnknownField`, `InvalidBody`."""
    seen = set[str]()
    for name, _ in form.multi_items():
        if name not in _FIELDS:
            raise UnknownField(
                f"the form has an unknown field: {name[:64]}",
                param=name[:64],
                hint=f"the fields are {', '.join(_FIELDS)}",
            )
        if name in seen:
            raise InvalidBody(f"the form has the field {name} twice", param=name)
        seen.add(name)


def _purpose(form: FormData) -> str:
    return _checked(Purpose, form.get("purpose"), "purpose", ", ".join(get_args(Purpose)))


def _expiry(form: FormData, purpose: str) -> int | None:
    """Seconds until the file expires; None if it does not."""
    anchor, seconds = (form.get(name) for name in _EXPIRY_FIELDS)
    if anchor is None and seconds is None:
        return _BATCH_EXPIRY_S if purpose == "batch" else None
    _checked(Literal["created_at"], anchor, _EXPIRY_FIELDS[0], "created_at")
    bounds = f"a whole number from {MIN_EXPIRY_S} to {MAX_EXPIRY_S}"
    if not isinstance(seconds, str) or not seconds.isascii() or not seconds.isdecimal():
        raise InvalidBody(f"{_EXPIRY_FIELDS[1]}: must be {bounds}", param=_EXPIRY_FIELDS[1])
    if len(seconds) > 9 or not MIN_EXPIRY_S <= int(seconds) <= MAX_EXPIRY_S:
        raise InvalidBody(f"{_EXPIRY_FIELDS[1]}: must be {bounds}", param=_EXPIRY_FIELDS[1])
    return int(seconds)


def _checked(kind: Any, value: object, name: str, choices: str) -> str:
    try:
        found: str = pydantic.TypeAdapter(kind).validate_python(value)
    except pydantic.ValidationError:
        raise InvalidBody(f"{name}: must be one of {choices}", param=name) from None
    return found


_FILE = Parameter("name", "path", "A plain file name, not a path; or the id of a file.")
_AFTER = Parameter("after", "query", "The id of the last item of the page before.")
_LIMIT = Parameter("limit", "query", "The most items of a page.")
_file = partial(Operation, scope=KeyScope.JOBS, group="Files")
_MISSING = endings(Code.NOT_FOUND, Code.INVALID_REQUEST)

OPERATIONS: tuple[Operation, ...] = (
    _file(
        method="GET",
        path="/v1/files",
        handler=list_files,
        summary="List the files",
        gives=FileList,
        parameters=(
            Parameter("purpose", "query", "List files of this purpose only."),
            Parameter("order", "query", "By time of creation.", ("asc", "desc"), "desc"),
            _LIMIT,
            _AFTER,
        ),
        errors=_MISSING,
    ),
    _file(
        method="POST",
        path="/v1/files",
        handler=create_file,
        summary="Upload a file with a purpose",
        description="A form with `file`, `purpose` and perhaps `expires_after[anchor]`, `expires_after[seconds]`.",
        takes_media="multipart/form-data",
        gives=FileObject,
        errors=(
            *_MISSING,
            *endings(Code.UNKNOWN_FIELD, Code.BODY_TOO_LARGE, Code.OVERLOADED, Code.NOT_READY),
        ),
    ),
    _file(
        method="PUT",
        path="/v1/files/{name}",
        handler=put_file,
        summary="Upload a file under a name",
        description="Replaces a file of that name.",
        takes_media=BYTES,
        gives=FileObject,
        status=201,
        parameters=(_FILE,),
        errors=(*_MISSING, *endings(Code.OVERLOADED, Code.NOT_READY)),
    ),
    _file(
        method="GET",
        path="/v1/files/{name}",
        handler=show_file,
        summary="Description of a file",
        gives=FileObject,
        parameters=(_FILE,),
        errors=_MISSING,
    ),
    _file(
        method="GET",
        path="/v1/files/{name}/content",
        handler=read_file,
        summary="Content of a file",
        gives_media=BYTES,
        or_status=206,
        parameters=(_FILE,),
        errors=(*_MISSING, NO_RANGE),
    ),
    _file(
        method="DELETE",
        path="/v1/files/{name}",
        handler=delete_file,
        summary="Delete a file",
        description="Rows that were read from it remain.",
        gives=FileDeleted,
        parameters=(_FILE,),
        errors=_MISSING,
    ),
)
