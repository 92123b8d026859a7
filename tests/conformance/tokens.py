"""A vocabulary of 32,768 tokens for the report: the first ids of the shared tokenizer, every byte among them.

Does: give its bytes and a way to spell text in it. Does not: follow the tokenizer's merges (any spelling is legal).
"""

from dataclasses import dataclass
from functools import cache

from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.contract.vocabulary import Vocabulary

from tests.conformance.cases import data_folder

SIZE = 32_768
_LONGEST = 32  # bytes of a token


@dataclass(frozen=True, eq=False)
class Spelling:
    """A vocabulary with its tokens by their bytes."""

    vocabulary: Vocabulary
    ids: dict[bytes, int]
    longest: dict[bytes, int]  # by the first byte

    def spell(self, text: bytes) -> tuple[int, ...]:
        """The longest token that fits, again and again."""
        tokens, at = [], 0
        while at < len(text):
            longest = self.longest[text[at : at + 1]]
            size = next(n for n in range(longest, 0, -1) if text[at : at + n] in self.ids)
            tokens.append(self.ids[text[at : at + size]])
            at += size
        return tuple(tokens)


@cache
def shared() -> Spelling:
    """The vocabulary; its last id ends an output."""
    folder = data_folder()
    assert folder is not None
    whole = Tokenizer.load(folder / "tokenizers" / "qwen").vocabulary()
    vocabulary = Vocabulary((*whole.tokens[: SIZE - 1], None), (SIZE - 1,), SIZE)
    ids = {text: token for token, text in enumerate(vocabulary.tokens) if text is not None}
    assert all(bytes([byte]) in ids for byte in range(256))
    longest: dict[bytes, int] = {}
    for text in sorted(ids, key=len):
        longest[text[:1]] = min(len(text), _LONGEST)
    return Spelling(vocabulary, ids, longest)
