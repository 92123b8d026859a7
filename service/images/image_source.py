"""An image as a request states it.

Does: parse data URLs; refuse addresses, which are never fetched. Does not: decode images.
"""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final, Literal

from ..dialects.stated import refused

Detail = Literal["auto", "low", "high"]

_DATA: Final = re.compile(r"data:(image/[\w.+-]+)?(;[\w.+=-]+)*;base64,", re.ASCII)
_EXAMPLE: Final = "send the image itself: data:image/png;base64,..."


@dataclass(frozen=True, slots=True)
class ImageSource:
    """The file of an image, the detail in which the model sees it, and its place in the request."""

    content: bytes
    detail: Detail
    pointer: str


def image_source(url: str, detail: Detail | None, pointer: str) -> ImageSource:
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
    try:
        content = base64.b64decode(url[found.end() :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise refused(pointer, f"the base64 of the image is invalid: {error}", _EXAMPLE) from None
    if not content:
        raise refused(pointer, "the image is empty", _EXAMPLE)
    return ImageSource(content, detail or "auto", pointer)
