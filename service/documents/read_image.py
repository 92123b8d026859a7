"""Image files to pixels of the size that a model reads.

Does: decode PNG, JPEG, WebP, GIF, BMP and TIFF, turn by EXIF, resize as the published processor of Qwen2-VL does;
refuse animations, extreme shapes and sizes. Does not: limit time or memory (`child_process`), or normalise pixels (the
engine).
"""

import io
import math
from importlib.util import find_spec
from typing import Any, Final

from .child_messages import ImageSize
from .refused import ReadingRefused, too_large, unreadable, unsupported

FORMATS: Final = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
MOST_DECODED: Final = 25_000_000
"""Pixels of a file. They are decoded, turned and converted within the memory of a child."""

MOST_RATIO: Final = 200
"""The longer side over the shorter one: the published processor refuses more."""

_READ: Final = "PNG, JPEG, WebP, GIF, BMP and TIFF are read"


def load_decoders() -> None:
    """Import all decoders, which a child may no longer do later. No effect without Pillow."""
    if find_spec("PIL") is None:
        return
    from PIL import Image, ImageOps

    Image.init()
    small = Image.new("RGB", (2, 2))
    for form in FORMATS:
        written = io.BytesIO()
        small.save(written, form)
        with Image.open(io.BytesIO(written.getvalue()), formats=FORMATS) as image:
            ImageOps.exif_transpose(image).convert("RGB").resize((1, 1), Image.Resampling.BICUBIC)


def read_image(content: bytes, size: ImageSize) -> tuple[int, int, bytes]:
    """Rows and columns of cells, and the pixels of an image file.

    Raises:
        ReadingRefused: it is not an image, damaged, animated, or too large.
    """
    # Not above: a process without images does without the library.
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as image:
            _check(image.width, image.height, getattr(image, "n_frames", 1))
            turned = ImageOps.exif_transpose(image).convert("RGB")
    except Image.DecompressionBombError:
        raise too_large(
            f"the image has more than {MOST_DECODED} pixels", "send a smaller one"
        ) from None
    except UnidentifiedImageError:
        raise unsupported("the file is no image that is read", f"{_READ}; convert it") from None
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError) as error:
        # What decoders raise for damaged files.
        raise unreadable(f"the image is damaged or cut off: {error}") from None
    return cells_of(turned, size)


def cells_of(image: Any, size: ImageSize) -> tuple[int, int, bytes]:
    """Rows and columns of cells, and the pixels, of an RGB image of Pillow."""
    from PIL import Image

    height, width = fitted_size(image.height, image.width, size)
    resized = image.resize((width, height), Image.Resampling.BICUBIC)
    return height // size.factor, width // size.factor, resized.tobytes()


def _check(width: int, height: int, frames: int) -> None:
    if frames > 1:
        raise unsupported(
            f"the image is animated or has several pages ({frames})",
            "send each as an image of its own",
        )
    if width * height > MOST_DECODED:
        raise too_large(
            f"the image has {width} x {height} pixels; at most {MOST_DECODED} are read",
            "send a smaller one",
        )
    require_shape(width, height, "the image", "pixels")


def require_shape(width: int, height: int, name: str, unit: str) -> None:
    """Return if neither side is too long for the other. Raises `ReadingRefused`."""
    if max(width, height) > MOST_RATIO * min(width, height):
        raise ReadingRefused(
            "unsupported_document",
            f"{name} has {width} x {height} {unit}: one side is more than {MOST_RATIO} times the other",
            "cut it into parts",
        )


def fitted_size(height: int, width: int, size: ImageSize) -> tuple[int, int]:
    """Height and width near those of the image, within the limits of `size`, as the published processor has them."""
    factor = size.factor
    tall, wide = round(height / factor) * factor, round(width / factor) * factor
    if tall * wide > size.most:
        shrunk = math.sqrt(height * width / size.most)
        tall = max(factor, math.floor(height / shrunk / factor) * factor)
        wide = max(factor, math.floor(width / shrunk / factor) * factor)
    elif tall * wide < size.least:
        grown = math.sqrt(size.least / (height * width))
        tall = math.ceil(height * grown / factor) * factor
        wide = math.ceil(width * grown / factor) * factor
    return tall, wide
