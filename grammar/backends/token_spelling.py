"""Token spelling: the tokens that a tokenizer would write for text that a grammar forces.

Does: turn forced bytes into the tokens that the model itself would have written, as far as no later text can change
them. Does not: know any grammar.

The rule: a boundary between two bytes is *hard* if no token contains these two bytes next to each other. No token
crosses a hard boundary, so the text before it has the same tokens whatever follows.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..base.array_types import Bytes, Flags
from ..base.bounded_cache import BoundedCache
from ..base.parts import Parts
from ..contract.vocabulary import Vocabulary

Canonical = Callable[[bytes], tuple[int, ...]]
_KEPT_BYTES = 8 << 20  # of spellings kept
_TOKEN_BYTES = 40  # of a token in a tuple
_SPELLED = 1_024  # bytes of a text that are spelled at once
WINDOW = 64  # tokens in which a hard boundary is looked for


class Speller:
    """The spelling rules of one vocabulary. Its rules never change; all grammars of a compiler share it.

    `canonical` returns the tokens of bytes in the middle of an output (empty where the tokenizer has none). `joined`
    uint8 [65,536]: whether some token contains two bytes next to each other, at 256 times the first plus the second.
    """

    def __init__(self, vocabulary: Vocabulary, canonical: Canonical) -> None:
        self._vocabulary = vocabulary
        self._canonical = canonical
        self.joined: Bytes = crossed(vocabulary.tokens).view(np.uint8).reshape(-1)
        self._crossed = self.joined.tobytes()  # read faster than an array
        self._spelled: BoundedCache[tuple[tuple[int, ...], bytes, bool], tuple[int, ...]] = (
            BoundedCache(_KEPT_BYTES)
        )

    @property
    def nbytes(self) -> int:
        """Memory of the spellings kept."""
        return self._spelled.nbytes

    def hard(self, left: int, right: int) -> bool:
        """Whether no token contains byte `left` followed by byte `right`."""
        return not self._crossed[left << 8 | right]

    def may_spell(self, text: bytes, *, final: bool) -> bool:
        """Whether `spell` may return tokens; not for most forced texts, which are a bracket or a colon."""
        if final or not text:
            return bool(text)
        crossed = self._crossed
        return any(not crossed[left << 8 | right] for left, right in pairwise(text))

    def spell(self, history: Sequence[int], text: bytes, *, final: bool) -> tuple[int, ...]:
        """Tokens for `text`, which must come next after the tokens `history`.

        With `final` the output ends after `text`; otherwise tokens after the last hard boundary are left out. Empty
        where the tokenizer would have written `history` with other tokens, given that `text` follows.
        """
        return (
            self.spell_whole(history, text, final=final)
            if self.may_spell(text, final=final)
            else ()
        )

    def spell_whole(self, history: Sequence[int], text: bytes, *, final: bool) -> tuple[int, ...]:
        """`spell` for a text that `may_spell` has looked at."""
        window, before = self._since_hard(history, text)
        if window is None:
            return ()
        key = (window, before + text, final)
        found = self._spelled.get(key)
        if found is None:
            found = self._after(window, before, text, final=final)
            size = len(before) + len(text) + _TOKEN_BYTES * (len(window) + len(found))
            self._spelled.put(key, found, size)
        return found

    def complete(self, history: Sequence[int], text: bytes) -> tuple[int, ...]:
        """Tokens for `text`, the last text of the output; empty where there are none.

        Tried in this order: the tokenizer's tokens after `history`; its tokens for `text` alone, if it would have
        written `history` with other tokens; one token for each byte. All spell the same bytes, so all are legal.
        """
        for before in (history, ()):
            run = self.spell(before, text, final=True) if text else ()
            if b"".join(self._vocabulary.text(token) or b"" for token in run) == text:
                return run
        if any(byte not in self.single_bytes for byte in text):
            return ()
        return tuple(self.single_bytes[byte] for byte in text)

    def complete_parts(self, history: Sequence[int], text: bytes) -> Parts[tuple[int, ...]]:
        """`complete` in parts: a long text is cut at hard boundaries, and each piece is spelled for itself."""
        run: list[int] = []
        while True:
            cut = next(
                (at for at in range(_SPELLED, len(text)) if self.hard(text[at - 1], text[at])),
                len(text),
            )
            piece = self.complete([*history[-WINDOW:], *run[-WINDOW:]], text[:cut])
            if text[:cut] and not piece:
                return ()
            run += piece
            text = text[cut:]
            if not text:
                return tuple(run)
            yield

    @cached_property
    def single_bytes(self) -> dict[int, int]:
        """By byte, the token that is this byte alone."""
        tokens = enumerate(self._vocabulary.tokens)
        return {text[0]: token for token, text in tokens if text and len(text) == 1}

    def _after(
        self, window: tuple[int, ...], before: bytes, text: bytes, *, final: bool
    ) -> tuple[int, ...]:
        """Tokens for `text` after the tokens `window`, which hold the bytes `before`."""
        whole = before + text
        ids = self._canonical(whole)
        if ids[: len(window)] != window:
            return ()
        pieces = [self._vocabulary.text(token) or b"" for token in ids]
        if b"".join(pieces) != whole:
            return ()
        kept = len(ids)
        at = len(whole)
        while kept > len(window) and not (
            final if at == len(whole) else self.hard(whole[at - 1], whole[at])
        ):
            kept -= 1
            at -= len(pieces[kept])
        return ids[len(window) : kept]

    def _since_hard(
        self, history: Sequence[int], text: bytes
    ) -> tuple[tuple[int, ...] | None, bytes]:
        """The end of `history` since its last hard boundary, as tokens and bytes; None if there is none nearby."""
        right, before = text[0], b""
        crossed, texts = self._crossed, self._vocabulary.tokens
        for count, token in enumerate(reversed(history)):
            piece = texts[token] if 0 <= token < len(texts) else None
            if count >= WINDOW or not piece:
                return None, b""
            if not crossed[piece[-1] << 8 | right]:
                return tuple(history[len(history) - count :]), before
            right, before = piece[0], piece + before
        return tuple(history), before


def crossed(tokens: Sequence[bytes | None]) -> Flags:
    """bool [256, 256]: whether some token contains the two bytes next to each other."""
    table = np.zeros((256, 256), dtype=np.bool_)
    texts = [token for token in tokens if token]
    if texts:
        whole = np.frombuffer(b"".join(texts), dtype=np.uint8)
        inside = np.ones(len(whole), dtype=np.bool_)
        inside[np.cumsum([len(text) for text in texts]) - 1] = False
        table[whole[:-1][inside[:-1]], whole[1:][inside[:-1]]] = True
    return table
