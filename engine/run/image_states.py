"""Encoded images: computed together, and kept by content for the next request with the same image.

Does: encode images that are not known, within a bounded batch; forget the least recently used ones. Does not: know
sequences, or define the encoder.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import chain

from torch import Tensor

from ..image_counts import ImageCounts
from ..model.vision_spec import VisionSpec
from ..types import PromptImage

Encode = Callable[[Sequence[PromptImage]], list[Tensor]]

MOST_CELLS = 4096
"""Cells that are encoded together, unless a single image has more: they bound the memory of the encoder."""


class EncodedImages:
    """The states [cells, levels, hidden] of images, at most `most_bytes` of them beside those in use."""

    def __init__(self, encode: Encode, most_bytes: int) -> None:
        self._encode = encode
        self._most = most_bytes
        self._held: OrderedDict[bytes, Tensor] = OrderedDict()
        self._bytes = 0
        self._counts = ImageCounts()

    @property
    def nbytes(self) -> int:
        """Bytes of the states that are kept."""
        return self._bytes

    @property
    def counts(self) -> ImageCounts:
        """The counts of now; for any thread."""
        return self._counts

    def states(self, images: Sequence[PromptImage]) -> dict[bytes, Tensor]:
        """The states of all images, by digest."""
        asked = {image.digest: image for image in images}
        missing = [image for digest, image in asked.items() if digest not in self._held]
        parts = _parts(missing)
        fresh = chain.from_iterable(self._encode(part) for part in parts)
        found = dict(zip((image.digest for image in missing), fresh, strict=True))
        for digest in asked.keys() & self._held.keys():
            found[digest] = self._held[digest]
            self._held.move_to_end(digest)
        for image in missing:
            self._keep(image.digest, found[image.digest])
        before = self._counts
        self._counts = ImageCounts(
            encoded=before.encoded + len(missing),
            cells=before.cells + sum(image.tokens for image in missing),
            batches=before.batches + len(parts),
            reused=before.reused + len(asked) - len(missing),
            nbytes=self._bytes,
        )
        return found

    def _keep(self, digest: bytes, states: Tensor) -> None:
        if states.nbytes > self._most:
            return
        self._held[digest] = states.clone()  # not a view of the batch that it was encoded in
        self._bytes += states.nbytes
        while self._bytes > self._most:
            self._bytes -= self._held.popitem(last=False)[1].nbytes


def _parts(images: Sequence[PromptImage]) -> list[list[PromptImage]]:
    """The images in batches of at most `MOST_CELLS` cells, or of one image."""
    parts: list[list[PromptImage]] = []
    cells = MOST_CELLS
    for image in images:
        if cells + image.tokens > MOST_CELLS:
            parts.append([])
            cells = 0
        parts[-1].append(image)
        cells += image.tokens
    return parts


def largest_image(spec: VisionSpec) -> PromptImage:
    """A black image of `MOST_CELLS` cells: to encode it takes the most memory of a batch."""
    side = int(MOST_CELLS**0.5)
    return PromptImage.of(0, side, side, bytes(3 * (side * spec.factor) ** 2))
