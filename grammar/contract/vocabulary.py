"""A model's vocabulary as bytes: all that a grammar needs to know about a tokenizer.

Does: hold the bytes of every token id, the end ids and the width of a mask; name itself by a fingerprint. Does not:
load tokenizers (`intaglio.engine.text`) or index the tokens.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Vocabulary:
    """What each token id stands for.

    `tokens[id]` is the text of a token as bytes, or None where it has none: control tokens and unused ids, which no
    grammar ever allows. `end_ids` end an output; they have no bytes. `width` is the number of logits of the model,
    which may be more than there are tokens; ids from `len(tokens)` to `width` have no bytes either.

    Raises:
        ValueError: the parts contradict one another.
    """

    tokens: tuple[bytes | None, ...]
    end_ids: tuple[int, ...]
    width: int

    def __post_init__(self) -> None:
        if self.width < len(self.tokens):
            raise ValueError(f"{len(self.tokens)} tokens do not fit {self.width} logits")
        if not self.end_ids or len(set(self.end_ids)) != len(self.end_ids):
            raise ValueError("a vocabulary needs at least one end id, and each once")
        for end in self.end_ids:
            if not 0 <= end < self.width:
                raise ValueError(f"end id {end} is not below the width {self.width}")
            if end < len(self.tokens) and self.tokens[end] is not None:
                raise ValueError(f"end id {end} has text")
        if b"" in self.tokens:
            raise ValueError(f"token {self.tokens.index(b'')} has empty text; use None")

    @cached_property
    def fingerprint(self) -> str:
        """A collision-resistant name of this vocabulary, for caches: hex SHA-256 of all its parts."""
        digest = hashlib.sha256()
        digest.update(f"{self.width};{self.end_ids};{len(self.tokens)}".encode())
        for token in self.tokens:
            digest.update(b"-" if token is None else len(token).to_bytes(4, "big") + token)
        return digest.hexdigest()

    def text(self, token: int) -> bytes | None:
        """The bytes of `token`; None for a token without text, including ids past the tokenizer's own."""
        return self.tokens[token] if 0 <= token < len(self.tokens) else None
