"""Prompts that fit the context of a model, and the token budget that they leave for the answer.

Does: encode a prompt, with a shorter outline of the schema if the full one leaves no room for the answer; count, and
name the longest part of a prompt that does not fit. Does not: write prompts (`prompt`) or estimate answers (`budget`).
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from intaglio.engine.api import ChatTemplate, PromptFrame, Tokenizer, TooLong

from ..documents.seen_image import SeenImage
from .budget import room
from .outline import BRIEF
from .prompt import ExtractionPrompt, PromptParts, extraction_messages
from .prompt_text import prompt_text


class PromptFitter:
    """Fits prompts into `capacity` tokens, which prompt and answer share."""

    def __init__(self, tokenizer: Tokenizer, chat: ChatTemplate, capacity: int) -> None:
        self._tokenizer = tokenizer
        self._chat = chat
        self._capacity = capacity

    @property
    def capacity(self) -> int:
        """The tokens that prompt and answer may have together."""
        return self._capacity

    def encode(
        self, schema: Mapping[str, Any], parts: PromptParts, max_tokens: int | None
    ) -> tuple[int, ...]:
        """The tokens of the prompt from `parts` and `schema`, before an answer of `max_tokens`; one for each image.

        Raises:
            TooLong: no outline leaves room for an answer.
            InvalidRequest: the chat template refuses the messages.
        """
        usual = extraction_messages(schema, parts)
        prompt = self._chat.encode(usual.messages, usual.variables)
        cells = parts.image_tokens - len(parts.images)  # beyond the token of each that is counted
        over = len(prompt) + cells + (max_tokens or 1) - self._capacity
        if over <= 0:
            return prompt
        brief = extraction_messages(schema, parts, BRIEF)
        # In tokens, each of which has at least one byte.
        max_saved = _bytes(usual) - _bytes(brief)
        if max_saved >= over:
            prompt = self._chat.encode(brief.messages, brief.variables)
        if len(prompt) + cells >= self._capacity:
            raise self._too_long(len(prompt) + cells, brief if max_saved >= over else usual, parts)
        return prompt

    def frame(self, schema: Mapping[str, Any], parts: PromptParts) -> PromptFrame | None:
        """The frame of the prompts with these parts and any other document that has letters; None if there is none."""
        gap = f"gap {secrets.token_hex(16)}"
        written = extraction_messages(schema, replace(parts, messages=PromptParts.of(gap).messages))
        return self._chat.frame(written.messages, written.variables, gap)

    def fill(
        self, frame: PromptFrame, document: str, max_tokens: int | None
    ) -> tuple[tuple[int, ...], int] | None:
        """The prompt of a frame with a document, and the tokens of the document; None if there is no room for it."""
        prompt, count = frame.encode(self._tokenizer, prompt_text(document))
        return None if len(prompt) + (max_tokens or 1) > self._capacity else (prompt, count)

    def budget(self, prompt: int, requested: int | None) -> int:
        """The token limit of the answer: as requested, or all that a prompt of `prompt` tokens leaves.

        Raises:
            TooLong: the requested tokens do not fit.
        """
        available = self._capacity - prompt
        if requested is not None and requested > available:
            raise TooLong(
                f"{prompt} prompt tokens and max_tokens {requested} make {prompt + requested}; "
                f"the model takes {self._capacity}",
                where="options.max_tokens",
                hint=f"set max_tokens to {available} at most, or shorten the text",
            )
        return requested or available

    def default_room(self, schema: Mapping[str, Any] | bool, parts: PromptParts) -> int:
        """The tokens that an answer may have beyond the shortest one if the request sets no limit."""
        return room(schema, self.count(parts.printed) + parts.image_tokens)

    def around(self, schema: Mapping[str, Any], parts: PromptParts) -> int:
        """The tokens of the prompt around the document, without its images.

        Raises:
            TooLong: schema, instructions and examples leave no room for a document.
        """
        document = "the document"
        probe = replace(parts, messages=PromptParts.of(document).messages, images=())
        return len(self.encode(schema, probe, None)) - self.count(document)

    def image_marks(self) -> int:
        """The tokens that the chat template puts around an image."""
        pixel, text = SeenImage(rows=1, columns=1, pixels=b""), PromptParts.of("the document")
        one, two = (
            extraction_messages({}, replace(text, images=(pixel,) * number)) for number in (1, 2)
        )
        encode = self._chat.encode
        added = len(encode(two.messages, two.variables)) - len(encode(one.messages, one.variables))
        return added - pixel.tokens

    def count_seen(self, text: str) -> int:
        """The tokens of a document, or of a part of one, as the model sees it."""
        return self.count(prompt_text(text))

    def count(self, text: str) -> int:
        """The tokens of a text by itself."""
        return len(self._tokenizer.encode(text)) if text else 0

    def _too_long(self, prompt: int, written: ExtractionPrompt, parts: PromptParts) -> TooLong:
        """The error for a prompt that leaves no room for an answer; it names the longest part."""
        turns = written.messages[1 : 1 + 2 * len(parts.examples)]
        counts = {
            "schema": self.count(written.outline),
            "examples": sum(self.count(turn["content"]) for turn in turns),
            "instructions": self.count(parts.guidance),
            "images": parts.image_tokens,
        }
        counts.pop(parts.part, None)
        counts[parts.part] = prompt - sum(counts.values())
        longest = max(counts, key=lambda name: counts[name])
        counted = ", ".join(f"{name} {count}" for name, count in counts.items() if count > 0)
        return TooLong(
            f"the prompt has {prompt} tokens ({counted}); "
            f"the context has {self._capacity}, answer included",
            where=longest,
            hint=_HINTS[longest.partition(".")[0]].format(over=prompt - self._capacity + 1),
        )


_HINTS = {
    "images": "take {over} tokens less: fewer images, detail low, or a lower max_image_tokens",
    "text": "shorten the text by at least {over} tokens, or set long_documents to windows",
    "texts": "shorten this text by at least {over} tokens, or set long_documents to windows",
    "messages": "shorten or drop messages, by at least {over} tokens",
    "schema": "shorten the schema by at least {over} tokens, with fewer properties or shorter descriptions; "
    "or extract its parts in separate requests",
    "examples": "shorten or drop examples, by at least {over} tokens",
    "instructions": "shorten the instructions by at least {over} tokens",
}


def _bytes(prompt: ExtractionPrompt) -> int:
    return len(prompt.outline.encode())
