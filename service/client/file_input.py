"""Files of a program as documents of a request.

Does: read the bytes of a file, and write the part of a request that names a document. Does not: look into files.
"""

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FileInput = str | os.PathLike[str] | bytes | tuple[str, bytes]
"""A path, the bytes of a file, or both its name and its bytes."""


def file_bytes(file: object) -> tuple[str | None, bytes]:
    """The name of a file, if it is known, and its bytes.

    Raises:
        TypeError: it is neither a path nor bytes nor a name with bytes.
        OSError: it cannot be read.
    """
    if isinstance(file, bytes | bytearray | memoryview):
        return None, bytes(file)
    if isinstance(file, tuple) and len(file) == 2 and isinstance(file[1], bytes):
        return str(file[0]), file[1]
    if isinstance(file, str | os.PathLike):
        path = Path(file)
        return path.name, path.read_bytes()
    raise TypeError(f"file must be a path, bytes or (name, bytes), not {type(file).__name__}")


def image_files(options: Mapping[str, Any]) -> list[bytes]:
    """The files of images among the options.

    Raises:
        TypeError: they are not several files.
        OSError: one cannot be read.
    """
    images = options.get("images") or ()
    if isinstance(images, str | bytes | os.PathLike):
        raise TypeError("images must be several files, such as a list: give [file] for one")
    return [file_bytes(image)[1] for image in images]


def image_parts(options: Mapping[str, Any]) -> list[dict[str, str]]:
    """The field `images` of a request. Raises as `image_files`."""
    return [{"base64": b64encode(content).decode("ascii")} for content in image_files(options)]


def document_part(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The field `document` of a request from the options `file`, `document` and `attachment`; None without them.

    Raises:
        TypeError: both a file and a document are given, or an attachment of none.
        OSError: the file cannot be read.
    """
    file, document = options.get("file"), options.get("document")
    attachment = options.get("attachment")
    if file is not None and document is not None:
        raise TypeError("file and document exclude each other: give one of them")
    if file is not None:
        name, content = file_bytes(file)
        part: dict[str, Any] = {"base64": b64encode(content).decode("ascii")}
        if name:
            part["name"] = name[:255]
    elif document is not None:
        part = {"id": document}
    elif attachment is not None:
        raise TypeError("an attachment belongs to a file or a document: give that, too")
    else:
        return None
    return part if attachment is None else {**part, "attachment": attachment}
