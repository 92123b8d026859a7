"""Token ids of a training sample, put together exactly as the service puts a request together.

The prompt is `<|schema|>` outline `<|document|>` text `<|answer|>`, the answer compact JSON and `<|end|>`.
Each part is encoded on its own with special-token parsing off, so no text can forge a marker.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intaglio.service.extraction.outline import outline
from tokenizers import Tokenizer

SCHEMA, DOCUMENT, ANSWER, END, PAD = SPECIALS = (
    "<|schema|>", "<|document|>", "<|answer|>", "<|end|>", "<|pad|>",
)  # fmt: skip


def load(path: Path) -> Tokenizer:
    """The tokenizer at `path`, set so that text never yields special ids."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.encode_special_tokens = True
    return tokenizer


@dataclass(frozen=True)
class Codec:
    """Turns schema, text and answer into ids; holds the ids of the markers."""

    tokenizer: Tokenizer
    schema: int
    document: int
    answer: int
    end: int
    pad: int

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Codec:
        ids = [tokenizer.token_to_id(name) for name in SPECIALS]
        known = [number for number in ids if number is not None]
        if len(known) < len(SPECIALS):
            raise ValueError(f"the tokenizer lacks one of {SPECIALS}")
        return cls(tokenizer, *known)

    def prompts(self, pairs: list[tuple[dict[str, Any], str]]) -> list[list[int]]:
        """Prompt ids of each (schema, text)."""
        shapes = self._ids([outline(schema) for schema, _ in pairs])
        texts = self._ids([text for _, text in pairs])
        return [
            [self.schema, *shape, self.document, *text, self.answer] for shape, text in zip(shapes, texts, strict=True)
        ]

    def answers(self, answers: list[str]) -> list[list[int]]:
        return [[*ids, self.end] for ids in self._ids(answers)]

    def _ids(self, parts: list[str]) -> list[list[int]]:
        encoded = self.tokenizer.encode_batch_fast(parts, add_special_tokens=False)
        return [part.ids for part in encoded]
