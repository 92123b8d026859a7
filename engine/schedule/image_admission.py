"""Validation of the images of a request, and of the tokens that stand for them.

Does: compare places, grids, pixels and digests with each other and with the model. Does not: limit how many there are.
"""

from ..errors import InvalidRequest
from ..types import ImageFormat, PromptImage, image_digest


def check_images(
    prompt: tuple[int, ...], images: tuple[PromptImage, ...], form: ImageFormat | None
) -> None:
    """Check the images of a prompt for a model that reads them as `form` says, None for a model that reads none.

    Raises:
        InvalidRequest: an image does not fit its tokens or the model, or the prompt has other tokens of images.
    """
    if not isinstance(images, tuple) or not all(isinstance(each, PromptImage) for each in images):
        raise InvalidRequest("images must be a tuple of PromptImage", where="images")
    if form is None:
        if images:
            raise InvalidRequest(
                "the model does not read images", where="images", hint="load a model with vision"
            )
        return
    end = 0
    for number, image in enumerate(images):
        _check_image(image, form, f"images/{number}")
        tokens = prompt[image.start : image.end]
        if image.start < end or len(tokens) < image.tokens or set(tokens) != {form.token}:
            raise InvalidRequest(
                f"image {number} needs {image.tokens} tokens {form.token} of its own in the prompt",
                where=f"images/{number}",
            )
        end = image.end
    seen = sum(image.tokens for image in images)
    if prompt.count(form.token) != seen:
        raise InvalidRequest(
            f"the prompt has {prompt.count(form.token)} tokens of images, its images have {seen}",
            where="prompt",
        )


def _check_image(image: PromptImage, form: ImageFormat, where: str) -> None:
    numbers = (image.start, image.rows, image.columns)
    if any(type(each) is not int for each in numbers) or image.start < 0:
        raise InvalidRequest("start, rows and columns of an image are counts", where=where)
    size = 3 * image.rows * image.columns * form.factor**2
    if image.rows < 1 or image.columns < 1 or not isinstance(image.pixels, bytes):
        raise InvalidRequest("an image has one cell at least, and its pixels as bytes", where=where)
    if len(image.pixels) != size:
        raise InvalidRequest(
            f"{image.rows} x {image.columns} cells are {size} bytes of pixels, not {len(image.pixels)}",
            where=where,
        )
    if image.digest != image_digest(image.rows, image.columns, image.pixels):
        raise InvalidRequest("the digest of an image is not that of its pixels", where=where)
