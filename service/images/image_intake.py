"""Images of a request to tokens and pixels of its prompt.

Does: refuse images for a model without vision, and too many of them; have files decoded; put one token for each cell
into the prompt. Does not: decode files in this process, or render prompts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intaglio.engine.api import ImageFormat, PromptImage

from ..dialects.stated import dotted, refused
from ..documents.child_messages import ImageSize
from ..documents.document_reader import DocumentReader
from .image_source import ImageSource

LOW_TOKENS: Final = 256
"""The most tokens of an image of low detail."""


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
                "load a model with vision, such as Qwen2.5-VL, or send the text of the image",
            )
        if len(sources) > self.most_images:
            raise refused(
                sources[self.most_images].pointer,
                f"the request has {len(sources)} images; at most {self.most_images} are read",
                "send fewer, or raise max_images",
            )

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
        places = [at for at, token in enumerate(tokens) if token == self.form.token]
        if len(places) != len(sources):
            raise refused(
                sources[0].pointer,
                f"the chat template has places for {len(places)} of {len(sources)} images",
                "use the template that the model was published with",
            )
        prompt: list[int] = []
        images, end = [], 0
        for place, source in zip(places, sources, strict=True):
            prompt += tokens[end:place]
            image = self._read(source, self.form, len(prompt))
            images.append(image)
            prompt += [self.form.token] * image.tokens
            end = place + 1
        return (*prompt, *tokens[end:]), tuple(images)

    def _read(self, source: ImageSource, form: ImageFormat, start: int) -> PromptImage:
        tokens = min(self.most_tokens, LOW_TOKENS) if source.detail == "low" else self.most_tokens
        most = min(form.most, tokens * form.factor**2)
        size = ImageSize(factor=form.factor, least=min(form.least, most), most=most)
        found = self.reader.see(source.content, size, dotted(source.pointer))
        return PromptImage.of(start, found.rows, found.columns, found.pixels)
