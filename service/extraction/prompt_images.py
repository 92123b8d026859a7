"""The images of an extraction in its prompt.

Does: put one token for each cell where the chat template has printed one for each image; describe what the model sees.
Does not: decode images, or render templates.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from intaglio.engine.api import ImageFormat, PromptImage
from intaglio.grammar.api import Constraint
from intaglio.schemas.extraction.images import ImageReading
from intaglio.schemas.problem import Detail

from ..documents.seen_image import SeenImage
from ..errors import InvalidBody


@dataclass(frozen=True, slots=True)
class SeenPrompt:
    """A prompt with the tokens of its images, the images, and what an answer says of them."""

    tokens: tuple[int, ...]
    images: tuple[PromptImage, ...] = ()
    readings: tuple[ImageReading, ...] = ()


def with_images(
    tokens: tuple[int, ...], images: Sequence[SeenImage], form: ImageFormat | None, param: str
) -> SeenPrompt:
    """The prompt with all images, where `tokens` has one token for each. A model without a `form` gets none.

    Raises:
        InvalidBody: the chat template does not print one token for each image. `param` is their place in the request.
    """
    if form is None:
        return SeenPrompt(tokens)
    places = [at for at, token in enumerate(tokens) if token == form.token]
    if len(places) != len(images):
        reason = f"the chat template has places for {len(places)} of {len(images)} images"
        raise InvalidBody(
            f"{param}: {reason}",
            param=param,
            hint="use the template that the model was published with",
            details=(Detail(pointer="/" + param.replace(".", "/"), reason=reason),),
        )
    prompt: list[int] = []
    placed, end = [], 0
    for place, image in zip(places, images, strict=True):
        prompt += tokens[end:place]
        placed.append(PromptImage.of(len(prompt), image.rows, image.columns, image.pixels))
        prompt += [form.token] * image.tokens
        end = place + 1
    readings = tuple(_reading(image, form) for image in images)
    return SeenPrompt((*prompt, *tokens[end:]), tuple(placed), readings)


def require_no_verbatim(constraint: Constraint, images: Sequence[object]) -> None:
    """Return if no string must be a substring of the document, or there are no `images`.

    Raises:
        InvalidBody: a string must be one, and images have no characters.
    """
    if constraint.document is not None and images:
        raise InvalidBody(
            "verbatim strings cannot be taken from images",
            param="options.grounding",
            hint="omit grounding: verbatim, and x-intaglio verbatim in the schema",
            details=(Detail(pointer="/options/grounding", reason="verbatim, beside images"),),
        )


def _reading(image: SeenImage, form: ImageFormat) -> ImageReading:
    return ImageReading(
        width=image.columns * form.factor,
        height=image.rows * form.factor,
        tokens=image.tokens,
        page=image.page,
    )
