"""Images of a request to tokens and pixels of its prompt.

Does: refuse images for a model without vision, and too many of them; have files decoded and pages drawn; put one token
for each cell into the prompt. Does not: decode files in this process, or render prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from intaglio.engine.api import ImageFormat, PromptImage
from intaglio.schemas.extraction.images import ImageDetail

from ..dialects.stated import dotted, refused
from ..documents.child_messages import ImageAnswer, ImageSize
from ..documents.document_reader import DocumentReader
from ..documents.seen_image import SeenImage
from ..extraction.prompt_images import with_images
from .image_source import ImageSource

LOW_TOKENS: Final = 256
"""The most tokens of an image of low detail."""


NO_VISION_HINT: Final = "load a model with vision, such as Qwen3-VL, or send the text of the image"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageIntake:
    """Reads images for one model: at most `most_images` of a request, of at most `most_tokens` tokens each.

    `form`: how the model reads images; None for a model without vision, of the name `model`.
    """

    form: ImageFormat | None
    reader: DocumentReader
    model: str
    most_images: int
    most_tokens: int

    def check(self, sources: Sequence[ImageSource]) -> None:
        """Return if the model may get these images.

        Raises:
            InvalidBody: it reads none, or there are too many.
        """
        if not sources:
            return
        if self.form is None:
            raise refused(
                sources[0].pointer,
                f"the model {self.model!r} does not read images",
                NO_VISION_HINT,
            )
        if len(sources) > self.most_images:
            raise refused(
                sources[self.most_images].pointer,
                f"the request has {len(sources)} images; at most {self.most_images} are read",
                "send fewer, or raise max_images",
            )

    def read(self, sources: Sequence[ImageSource]) -> tuple[SeenImage, ...]:
        """The images, decoded. They have passed `check`.

        Raises:
            UnreadableDocument, UnsupportedDocument, DocumentTooLarge: a file is refused.
        """
        return tuple(
            _seen(self.reader.see(each.content, self.size(each.detail), dotted(each.pointer)))
            for each in sources
        )

    def draw(self, content: bytes, page: int, at: int, param: str) -> SeenImage:
        """A page of a PDF, which stands at `at` in the text of its document. Raises as `read`."""
        found = self.reader.see_page(content, page, self.size("auto"), param)
        return replace(_seen(found), page=page, at=at)

    def size(self, detail: ImageDetail) -> ImageSize:
        """The size to which images are resized."""
        form = self.form
        if form is None:
            raise ValueError("the model does not read images")
        tokens = min(self.most_tokens, LOW_TOKENS) if detail == "low" else self.most_tokens
        most = min(form.most, tokens * form.factor**2)
        return ImageSize(factor=form.factor, least=min(form.least, most), most=most)

    def filled(
        self, tokens: tuple[int, ...], sources: Sequence[ImageSource]
    ) -> tuple[tuple[int, ...], tuple[PromptImage, ...]]:
        """The prompt with the tokens of all images, where `tokens` has one for each; and the images.

        Raises:
            InvalidBody: the chat template does not print one token for each image.
            UnreadableDocument, UnsupportedDocument, DocumentTooLarge: a file is refused.
        """
        if not sources or self.form is None:
            return tokens, ()
        seen = with_images(tokens, self.read(sources), self.form, dotted(sources[0].pointer))
        return seen.tokens, seen.images


def _seen(found: ImageAnswer) -> SeenImage:
    return SeenImage(rows=found.rows, columns=found.columns, pixels=found.pixels)
