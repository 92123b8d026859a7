"""An image as a request states it.

Does: parse data URLs; refuse addresses, which are never fetched. Does not: decode images.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from intaglio.schemas.extraction.images import ImageDetail, ImageInput

from ..dialects.stated import refused

_DATA: Final = re.compile(r"data:(image/[\w.+-]+)?(;[\w.+=-]+)*;base64,", re.ASCII)
_EXAMPLE: Final = "send the image itself: data:image/png;base64,..."


@dataclass(frozen=True, slots=True)
class ImageSource:
    """The file of an image, the detail in which the model sees it, and its place in the request."""

    content: bytes
    detail: ImageDetail
    pointer: str


def image_source(url: str, detail: ImageDetail | None, pointer: str) -> ImageSource:
    """The image in a data URL.

    Raises:
        InvalidBody: it is another URL, or not in base64.
    """
    found = _DATA.match(url)
    if found is None:
        scheme = url[:16].partition(":")[0].lower()
        if scheme in ("http", "https", "file", "ftp"):
            raise refused(pointer, f"images are not fetched from {scheme} addresses", _EXAMPLE)
        raise refused(pointer, "must be a data URL of an image in base64", _EXAMPLE)
    return _decoded(url[found.end() :], detail or "auto", pointer, _EXAMPLE)


def input_source(given: ImageInput, pointer: str) -> ImageSource:
    """An image of an extraction. Raises as `image_source`."""
    if given.url is not None:
        return image_source(given.url, given.detail, f"{pointer}/url")
    assert given.base64 is not None  # the wire type requires one of both
    return _decoded(given.base64, given.detail, f"{pointer}/base64", "send the bytes of its file")


def _decoded(text: str, detail: ImageDetail, pointer: str, hint: str) -> ImageSource:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise refused(pointer, f"the base64 of the image is invalid: {error}", hint) from None
    if not content:
        raise refused(pointer, "the image is empty", hint)
    return ImageSource(content, detail, pointer)
