"""A decoded image on its way into a prompt, and a text with such images.

Does: define the values. Does not: decode.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenImage:
    """The pixels (RGB, row by row) of `rows` times `columns` cells.

    `at` is the place of the image in the text of its document, a count of characters; `page` the page that it shows.
    """

    rows: int
    columns: int
    pixels: bytes
    at: int = 0
    page: int | None = None

    @property
    def tokens(self) -> int:
        """The number of its tokens in a prompt."""
        return self.rows * self.columns


@dataclass(frozen=True, slots=True)
class SeenText:
    """What a model extracts from: a text, empty if there are only images, and the images in it."""

    text: str
    images: tuple[SeenImage, ...] = ()
