"""Bodies that are forms (`multipart/form-data`): fields, one file, and images.

Does: parse a form within limits of size and time. Does not: know which fields a route takes.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from ..errors import InvalidBody, UnknownField

MULTIPART: Final = "multipart/form-data"
_MOST_FIELDS: Final = 8


@dataclass(frozen=True, slots=True)
class FormFile:
    """The file of a form. Its `name` is what the client called it."""

    name: str | None
    content: bytes


@dataclass(frozen=True, slots=True)
class FormBody:
    """A form: its file, if it has one, its images, and the texts of its other fields."""

    file: FormFile | None
    fields: Mapping[str, str]
    images: tuple[FormFile, ...] = ()


def is_form(request: Request) -> bool:
    """Whether the body of a request is declared to be a form."""
    return request.headers.get("content-type", "").lower().startswith(MULTIPART)


async def parse_form(
    headers: Headers, body: bytes, known: tuple[str, ...], most_images: int = 0
) -> FormBody:
    """The form in `body`. Its file is in the field `file`; `known` are the other fields that it may have.

    It may have as many as `most_images` files in the field `image`.

    Raises:
        InvalidBody: the body is not a form.
        UnknownField: it has another field.
    """
    parser = MultiPartParser(
        headers,
        _whole(body),
        max_files=1 + most_images,
        max_fields=_MOST_FIELDS,
        max_part_size=max(1, len(body)),
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise InvalidBody("the body is not a form", hint=error.message) from None
    except (KeyError, ValueError, UnicodeError, LookupError):
        raise InvalidBody("the body is not a form: its content-type cannot be read") from None
    try:
        file, images, fields = None, list[FormFile](), dict[str, str]()
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                found = FormFile((value.filename or "")[:255] or None, await value.read())
                if name == "image" and most_images:
                    images.append(found)
                elif name != "file":
                    raise _unknown(name, known)
                elif file is not None:
                    raise InvalidBody("the form has the field file twice", param="file")
                else:
                    file = found
            elif name not in known:
                raise _unknown(name, known)
            elif name in fields:
                raise InvalidBody(f"the form has the field {name} twice", param=name)
            else:
                fields[name] = value
        return FormBody(file, fields, tuple(images))
    finally:
        await form.close()


def _unknown(name: str, known: tuple[str, ...]) -> UnknownField:
    names = ", ".join(("file", *known))
    rest = "; the fields of a JSON body go into request" if "request" in known else ""
    return UnknownField(
        f"the form has an unknown field: {name[:64]}",
        param=name[:64],
        hint=f"the fields are {names}{rest}",
    )


async def _whole(body: bytes) -> AsyncGenerator[bytes, None]:
    for at in range(0, len(body), 1 << 18):
        yield body[at : at + (1 << 18)]
        await asyncio.sleep(0)  # a large form must not hold up other requests
