"""The wire types of images in an extraction: those of a request, and how the model saw them.

Does: define shapes, defaults and bounds. Does not: decode images.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from ..base import Wire
from .document_objects import MAX_BASE64_CHARACTERS

MAX_IMAGES = 1024

ImageDetail = Literal["auto", "low", "high"]


class ImageInput(Wire):
    """An image of a request, for a model that reads images: the bytes of its file, or a data URL with them."""

    base64: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_BASE64_CHARACTERS,
        description="The bytes of a file in base64: PNG, JPEG, WebP, GIF, BMP or TIFF, by its content.",
    )
    url: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_BASE64_CHARACTERS,
        description="A data URL (`data:image/png;base64,…`). Addresses are refused: nothing is fetched.",
    )
    detail: ImageDetail = Field(
        default="auto", description="`low` takes at most 256 tokens, the others as many as are set."
    )

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.base64 is None) == (self.url is None):
            raise ValueError("give either base64 or url")
        return self


class ImageReading(Wire):
    """An image as the model saw it: resized to `width` times `height` pixels, which took `tokens` of the prompt.

    `page` is the page of the document that was drawn, counted from 1; null for an image of the request.
    """

    width: int
    height: int
    tokens: int
    page: int | None = None
