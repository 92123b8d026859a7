"""The texts of a vocabulary as tensors for the grammar passes, with one lane per token.

Does: sort the tokens of every block of `BLOCK` ids by length, so that adjacent lanes finish together, and pack their
bytes four to a word. Does not: know grammars (`arena`), walk (`walk_masks`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..contracts import WORD_BITS

BLOCK: Final = 1024  # ids that one program of the walk decides
CHUNK: Final = 128  # tokens that are walked at once
NO_TEXT: Final = 256  # the first byte of tokens without text
NO_BYTE: Final = 0xFF  # fills the ends of texts; no grammar on the device reads it


@dataclass(frozen=True, slots=True)
class TokenTable:
    """Texts of all tokens, ordered by block and by length within the block; P places, a multiple of BLOCK.

    `first_bytes` int16 [P]: the first byte or NO_TEXT. `words` int32 [most, P]: the bytes after it, four a word, low
    first. `steps` int32 [P / CHUNK]: words that some token of the chunk needs. `tokens` int32 [P]: the id at a place.
    `places` int16 [P]: by id, its place in its block. `offsets` int32 [width + 1] and `data` uint8: texts by id.
    `bytes` uint8 [256]: every byte. `end_words` int32 [P / 32]: mask words of the end tokens.
    """

    width: int
    first_bytes: Tensor
    words: Tensor
    steps: Tensor
    tokens: Tensor
    places: Tensor
    offsets: Tensor
    data: Tensor
    bytes: Tensor
    end_words: Tensor

    @property
    def blocks(self) -> int:
        """The number of blocks, and so of the programs of a walk."""
        return len(self.tokens) // BLOCK


def lay_out(
    texts: Sequence[bytes | None], end_ids: Sequence[int], width: int, device: torch.device
) -> TokenTable:
    """The table of `texts` by id, None (or missing up to `width`) for tokens that no grammar allows but as ends."""
    padded = -(-width // BLOCK) * BLOCK
    missing = [b""] * (padded - len(texts))
    known = [b"" if text is None or NO_BYTE in text else text for text in texts] + missing
    length = np.array([len(text) for text in known], np.int64)
    order = np.lexsort((np.arange(padded), length, np.arange(padded) // BLOCK))
    places = np.empty(padded, np.int64)
    places[order] = np.arange(padded) % BLOCK
    offsets = np.zeros(padded + 1, np.int64)
    np.cumsum(length, out=offsets[1:])
    data = np.frombuffer(b"".join(known) + b"\0", np.uint8)
    most = max(1, -(-(int(length.max()) - 1) // 4))
    letters = np.full((padded, 1 + 4 * most), NO_BYTE, np.uint8)
    inside = np.arange(letters.shape[1]) < length[:, None]
    letters[inside] = data[: offsets[-1]]
    first = np.where(length > 0, letters[:, 0].astype(np.int16), NO_TEXT)
    words = np.ascontiguousarray(letters[order, 1:]).view("<u4").view(np.int32)
    needed = np.maximum(0, -(-(length[order] - 1) // 4)).reshape(-1, CHUNK).max(axis=1)
    ends = np.zeros(padded, np.bool_)
    ends[list(end_ids)] = True
    end_words = np.packbits(ends, bitorder="little").view("<u4").view(np.int32)

    def put(array: npt.NDArray[Any], dtype: type[np.generic]) -> Tensor:
        return torch.from_numpy(np.array(array, dtype, copy=True, order="C")).to(device)

    return TokenTable(
        width,
        put(first[order], np.int16),
        put(words.T, np.int32),
        put(needed, np.int32),
        put(order, np.int32),
        put(places, np.int16),
        put(offsets[: width + 1], np.int32),
        put(data, np.uint8),
        put(np.arange(256), np.uint8),
        put(end_words[: padded // WORD_BITS], np.int32),
    )
