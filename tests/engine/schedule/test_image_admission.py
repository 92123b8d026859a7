"""Images of a request that do not fit their tokens, their pixels or the model are refused."""

from dataclasses import replace

import pytest
from intaglio.engine.errors import InvalidRequest
from intaglio.engine.schedule.image_admission import check_images
from intaglio.engine.types import ImageFormat, PromptImage

FORM = ImageFormat(token=7, factor=2, least=4, most=400)
IMAGE = PromptImage.of(1, 2, 1, bytes(3 * 2 * 4))
PROMPT = (5, 7, 7, 5)


def test_an_image_that_fits_is_taken() -> None:
    check_images(PROMPT, (IMAGE,), FORM)
    check_images((5, 5), (), None)


@pytest.mark.parametrize(
    ("prompt", "image", "reason"),
    [
        (PROMPT, replace(IMAGE, start=0), "tokens 7 of its own"),
        (PROMPT, replace(IMAGE, start=3), "tokens 7 of its own"),
        (PROMPT, replace(IMAGE, start=-1), "are counts"),
        (PROMPT, replace(IMAGE, rows=0), "one cell at least"),
        (PROMPT, replace(IMAGE, pixels=bytes(23)), "are 24 bytes"),
        (PROMPT, replace(IMAGE, pixels=bytes([1] * 24)), "digest"),
        ((*PROMPT, 7), IMAGE, "has 3 tokens of images, its images have 2"),
        (PROMPT, None, "tuple of PromptImage"),
    ],
)
def test_an_image_that_does_not_fit_is_refused(
    prompt: tuple[int, ...], image: PromptImage, reason: str
) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        check_images(prompt, (image,), FORM)


def test_images_must_not_overlap() -> None:
    with pytest.raises(InvalidRequest, match="of its own"):
        check_images(PROMPT, (IMAGE, IMAGE), FORM)


def test_a_model_without_vision_takes_no_image() -> None:
    with pytest.raises(InvalidRequest, match="does not read images"):
        check_images(PROMPT, (IMAGE,), None)
