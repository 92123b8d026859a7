"""A model's vocabulary as bytes: everything that a grammar needs to know about a tokenizer.

Does: hold the bytes of every token id, the end ids and the width of a mask; give a fingerprint. Does not: load
tokenizers (`intaglio.engine.text`) or index the tokens (`mask.token_texts`).
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Vocabulary:
    """The text of each token id.

    `tokens[id]`: the text of a token as bytes; None for control tokens and unused ids, which no grammar ever allows.
    `end_ids`: the tokens that end an output; they have no text. `width`: the number of logits of the model, which may
    exceed the number of tokens; ids from `len(tokens)` to `width` have no text either.

    Raises:
        ValueError: the fields contradict one another.
    """

    tokens: tuple[bytes | None, ...]
    end_ids: tuple[int, ...]
    width: int

    def __post_init__(self) -> None:
        if self.width < len(self.tokens):
            raise ValueError(f"{len(self.tokens)} tokens do not fit {self.width} logits")
        if not self.end_ids or len(set(self.end_ids)) != len(self.end_ids):
            raise ValueError("a vocabulary needs at least one end id, and each only once")
        for end in self.end_ids:
            if not 0 <= end < self.width:
                raise ValueError(f"end id {end} is not below the width {self.width}")
            if end < len(self.tokens) and self.tokens[end] is not None:
                raise ValueError(f"end id {end} has text")
        if b"" in self.tokens:
            raise ValueError(f"token {self.tokens.index(b'')} has empty text; use None")

    @cached_property
    def fingerprint(self) -> str:
        """The cache key of this vocabulary: hex SHA-256 of all its fields."""
        digest = hashlib.sha256()
        digest.update(f"{self.width};{self.end_ids};{len(self.tokens)}".encode())
        for token in self.tokens:
            digest.update(b"-" if token is None else len(token).to_bytes(4, "big") + token)
        return digest.hexdigest()

    def text(self, token: int) -> bytes | None:
        """The bytes of `token`; None for a token without text, which includes ids beyond the tokenizer's."""
        return self.tokens[token] if 0 <= token < len(self.tokens) else None
