"""The part of a prompt that is the same for many documents, encoded once.

Does: hold the tokens around one text, and encode a prompt by encoding that text only. Does not: render templates
(`chat`) or decide which prompts share a frame.
"""

from dataclasses import dataclass
from typing import Protocol


class RunEncoder(Protocol):
    """The part of a tokenizer that a frame uses; see `Tokenizer`."""

    def encode_run(self, text: str, *, inner: bool) -> tuple[int, ...]:
        """Ids of the text between two control tokens."""
        ...

    def encode_after(self, head: str, text: str, *, inner: bool) -> tuple[tuple[int, ...], int]:
        """Ids of `head + text` between two control tokens, and the number of ids of `text` alone."""
        ...

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of a whole prompt."""
        ...


@dataclass(frozen=True, slots=True)
class PromptFrame:
    """A prompt with a gap for one text.

    `before` and `after` are tokens up to and from the nearest control tokens. `head` and `tail` are the text between
    those and the gap: they are encoded together with the inserted text, because words merge across its borders.
    """

    before: tuple[int, ...]
    head: str
    tail: str
    after: tuple[int, ...]

    def encode(self, tokenizer: RunEncoder, text: str) -> tuple[tuple[int, ...], int]:
        """The tokens of the prompt with `text`, and the number of tokens that `text` has by itself."""
        inner = bool(self.before)
        if self.tail:
            run = tokenizer.encode_run(self.head + text + self.tail, inner=inner)
            alone = len(tokenizer.encode(text))
        else:
            run, alone = tokenizer.encode_after(self.head, text, inner=inner)
        return self.before + run + self.after, alone

    @property
    def size_bytes(self) -> int:
        """An estimate of the memory that the frame occupies."""
        return 40 * (len(self.before) + len(self.after)) + 4 * (len(self.head) + len(self.tail))
