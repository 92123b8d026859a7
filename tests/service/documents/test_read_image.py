"""Image files: pixels as the published processor makes them; hostile files are refused in the child."""

import io
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from intaglio.service.documents.child_messages import ImageSize
from intaglio.service.documents.document_reader import DocumentReader
from intaglio.service.documents.read_image import FORMATS, MOST_DECODED, read_image
from intaglio.service.errors import DocumentTooLarge, UnreadableDocument, UnsupportedDocument
from PIL import Image

SIZE = ImageSize(factor=28, least=56 * 56, most=28 * 28 * 64)


@pytest.fixture(scope="module")
def reader() -> Iterator[DocumentReader]:
    with DocumentReader(children=1) as found:
        yield found


def _picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    colours = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)
    return Image.fromarray(colours).convert(mode)


def _file(picture: Image.Image, form: str = "PNG", **options: object) -> bytes:
    written = io.BytesIO()
    picture.save(written, form, **options)
    return written.getvalue()


@pytest.mark.parametrize("size", [(300, 200), (20, 31), (1000, 40), (56, 56), (333, 777)])
def test_pixels_equal_those_of_the_published_processor(size: tuple[int, int]) -> None:
    picture = _picture(*size)
    rows, columns, pixels = read_image(_file(picture), SIZE)
    # Here: it takes seconds, and each process of the test run imports this file.
    from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as processing

    processor = processing.Qwen2VLImageProcessorPil(
        min_pixels=SIZE.least, max_pixels=SIZE.most, do_rescale=False, do_normalize=False
    )
    made = processor(picture, return_tensors="np")
    assert made["image_grid_thw"].tolist() == [[1, rows * 2, columns * 2]]
    shape = rows, columns, 2, 2, 3, 2, 14, 14  # cells, patches in a cell, colours, frames, patch
    frame = made["pixel_values"].reshape(shape)[:, :, :, :, :, 0]
    whole = frame.transpose(0, 2, 5, 1, 3, 6, 4).reshape(rows * 28, columns * 28, 3)
    ours = np.frombuffer(pixels, np.uint8).reshape(whole.shape)
    assert np.array_equal(ours, whole)


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_read_in_the_child(form: str, reader: DocumentReader) -> None:
    picture = _picture(60, 60, "P" if form == "GIF" else "RGB")
    found = reader.see(_file(picture, form), SIZE, "image")
    assert (found.rows, found.columns, len(found.pixels)) == (2, 2, 3 * 56 * 56)


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "1", "I;16", "CMYK"])
def test_every_mode_becomes_rgb(mode: str, reader: DocumentReader) -> None:
    picture = Image.new(mode, (60, 60), 1 if mode in ("1", "P", "L", "I;16") else None)
    content = _file(picture, "TIFF" if mode == "CMYK" else "PNG")
    assert len(reader.see(content, SIZE, "image").pixels) == 3 * 56 * 56


def test_a_photo_is_turned_as_its_exif_says() -> None:
    picture = _picture(112, 56)
    exif = Image.Exif()
    exif[0x0112] = 6
    rows, columns, _ = read_image(_file(picture, "JPEG", exif=exif.tobytes()), SIZE)
    assert (rows, columns) == (4, 2)


def _png_of(width: int, height: int) -> bytes:
    """A PNG of a few bytes that says it has so many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1 << 16))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


FRAMES = _file(_picture(8, 8, "P"), "GIF", save_all=True, append_images=[_picture(9, 9, "P")])

HOSTILE = {
    "a bomb": (_png_of(30_000, 30_000), DocumentTooLarge, "pixels"),
    "more than is decoded": (_png_of(5001, 5000), DocumentTooLarge, str(MOST_DECODED)),
    "cut off": (_file(_picture(200, 200))[:5000], UnreadableDocument, "damaged or cut off"),
    "cut off in its head": (_png_of(100, 100)[:40], UnsupportedDocument, "no image that is read"),
    "text": (b"no image at all", UnsupportedDocument, "no image that is read"),
    "a PDF": (b"%PDF-1.7\n", UnsupportedDocument, "no image that is read"),
    "animated": (FRAMES, UnsupportedDocument, "animated"),
    "a line": (_file(Image.new("RGB", (1000, 2))), UnsupportedDocument, "200 times"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_images_are_refused(name: str, reader: DocumentReader) -> None:
    content, error, reason = HOSTILE[name]
    with pytest.raises(error, match=reason) as caught:
        reader.see(content, SIZE, "messages.0.content.1.image_url.url")
    assert caught.value.param == "messages.0.content.1.image_url.url"
    assert caught.value.hint


def test_damaged_images_end_no_reader_for_good(reader: DocumentReader) -> None:
    """Single bytes of a small file replaced: an image or a refusal comes, and the next file is read."""
    whole = bytearray(_file(_picture(40, 40), "JPEG"))
    for at in range(2, len(whole), 97):
        broken = bytes(whole[:at]) + bytes([whole[at] ^ 0x5A]) + bytes(whole[at + 1 :])
        with suppress(UnreadableDocument, UnsupportedDocument, DocumentTooLarge):
            assert reader.see(broken, SIZE, "image").pixels
    assert reader.see(bytes(whole), SIZE, "image").rows == 2
