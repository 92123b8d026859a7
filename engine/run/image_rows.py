"""The images of the running sequences, and their share of each step: rotary positions and encoded cells.

Does: keep the images of each sequence with the rotary positions of its tokens, and put positions and encoded cells into
a batch. Does not: encode (`image_states`), or decide anything; plans change it.

M-RoPE (Wang et al. 2024, Qwen2-VL): a token of text has one rotary position in all three parts of a head. The cells of
an image have the position at which the image starts, plus their row in the second part and their column in the third;
the text after the image continues behind its longer side.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ..image_counts import ImageCounts
from ..plan import Plan, Work
from ..types import PromptImage
from .batch import Batch, ImageTokens
from .image_states import EncodedImages
from .slots import Ints


@dataclass(frozen=True, slots=True)
class RopePositions:
    """The rotary positions of the tokens of a sequence: `placed` [3, end] up to the end of its last image.

    A token after that, at position p of the sequence, has the rotary position p + `shift`.
    """

    placed: Ints
    shift: int

    @classmethod
    def of(cls, images: Sequence[PromptImage]) -> "RopePositions":
        """The positions in a prompt with these images."""
        parts, at, next_position = [], 0, 0
        for image in images:
            parts.append(
                np.broadcast_to(
                    np.arange(next_position, next_position + image.start - at),
                    (3, image.start - at),
                )
            )
            next_position += image.start - at
            rows, columns = np.indices((image.rows, image.columns)).reshape(2, -1)
            parts.append(np.stack((np.zeros_like(rows), rows, columns)) + next_position)
            next_position += max(image.rows, image.columns)
            at = image.end
        return cls(np.concatenate(parts, axis=1), next_position - at)

    def of_work(self, work: Work) -> Ints:
        """The positions [3, N] of the tokens of a work."""
        placed = self.placed[:, work.start : work.end]
        text = np.arange(work.start + placed.shape[1], work.end) + self.shift
        return np.concatenate((placed, np.broadcast_to(text, (3, text.size))), axis=1)


@dataclass(frozen=True, slots=True)
class _Held:
    images: tuple[PromptImage, ...]
    rope_positions: RopePositions


class ImageRows:
    """The images of the sequences that have some, by sequence."""

    def __init__(self, encoded: EncodedImages) -> None:
        self._encoded = encoded
        self._held: dict[int, _Held] = {}

    @property
    def counts(self) -> ImageCounts:
        """The counts of encoded images; for any thread."""
        return self._encoded.counts

    def placed(self, plan: Plan, batch: Batch) -> Batch:
        """`batch`, which was built from `plan`, with the positions and the states of images."""
        for seq_id in plan.released:
            self.forget(seq_id)
        for new in plan.admitted:
            if new.images:
                self._held[new.seq_id] = _Held(new.images, RopePositions.of(new.images))
        if not any(work.seq_id in self._held for work in plan.works):
            return batch
        rope_positions = np.broadcast_to(batch.positions, (3, batch.positions.size)).copy()
        seen: list[tuple[PromptImage, int, int, int]] = []
        for work, start in zip(plan.works, batch.starts.tolist(), strict=False):
            held = self._held.get(work.seq_id)
            if held is None:
                continue
            rope_positions[:, start : start + len(work.tokens)] = held.rope_positions.of_work(work)
            for image in held.images:
                begin, end = max(image.start, work.start), min(image.end, work.end)
                if begin < end:
                    seen.append((image, begin, end, start - work.start))
        if not seen:
            return replace(batch, rope_positions=rope_positions[0].copy())
        states = self._encoded.states([image for image, *_ in seen])
        parts = [
            states[image.digest][begin - image.start : end - image.start]
            for image, begin, end, _ in seen
        ]
        at = np.concatenate([np.arange(begin, end) + shift for _, begin, end, shift in seen])
        return replace(batch, images=ImageTokens(rope_positions, at, torch.cat(parts)))

    def forget(self, seq_id: int) -> None:
        """Drop the images of a sequence; no effect if it has none."""
        self._held.pop(seq_id, None)
