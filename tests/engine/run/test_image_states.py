"""Encoded images: known ones are not encoded again, batches and memory are bounded."""

from collections.abc import Sequence

import torch
from intaglio.engine.image_counts import ImageCounts
from intaglio.engine.run.image_states import MOST_CELLS, EncodedImages
from intaglio.engine.types import PromptImage
from torch import Tensor


class Encoder:
    """Records the digests of every batch; a state is the first pixel of its image."""

    def __init__(self) -> None:
        self.batches: list[list[bytes]] = []

    def __call__(self, images: Sequence[PromptImage]) -> list[Tensor]:
        self.batches.append([image.digest for image in images])
        return [torch.full((image.tokens, 2), float(image.pixels[0])) for image in images]


def _image(colour: int, rows: int = 1) -> PromptImage:
    return PromptImage.of(0, rows, 1, bytes([colour]))


def test_an_image_is_encoded_once_and_images_of_a_step_together() -> None:
    encoder = Encoder()
    encoded = EncodedImages(encoder, 1 << 20)
    found = encoded.states([_image(1), _image(2), _image(1)])
    assert encoder.batches == [[_image(1).digest, _image(2).digest]]
    assert found[_image(2).digest].tolist() == [[2.0, 2.0]]
    again = encoded.states([_image(3), _image(2)])
    assert encoder.batches[1:] == [[_image(3).digest]]
    assert again[_image(2).digest].tolist() == [[2.0, 2.0]]


def test_the_least_recently_used_image_is_forgotten() -> None:
    encoder = Encoder()
    encoded = EncodedImages(encoder, 16)  # two images of one cell
    encoded.states([_image(1), _image(2)])
    encoded.states([_image(1)])
    encoded.states([_image(3)])
    assert encoded.nbytes == 16
    encoded.states([_image(1)])
    assert len(encoder.batches) == 2
    assert encoded.states([_image(2)])[_image(2).digest].tolist() == [[2.0, 2.0]]
    assert len(encoder.batches) == 3
    assert encoded.counts == ImageCounts(encoded=4, cells=4, batches=3, reused=2, nbytes=16)


def test_images_that_do_not_fit_are_used_and_not_kept() -> None:
    encoder = Encoder()
    encoded = EncodedImages(encoder, 0)
    for _ in range(2):
        assert len(encoded.states([_image(1), _image(2)])) == 2
    assert encoded.nbytes == 0
    assert len(encoder.batches) == 2


def test_a_batch_of_the_encoder_is_bounded() -> None:
    encoder = Encoder()
    half = MOST_CELLS // 2
    images = [
        _image(1, half),
        _image(2, half),
        _image(3, 1),
        _image(4, MOST_CELLS + 1),
        _image(5, 1),
    ]
    EncodedImages(encoder, 0).states(images)
    assert [len(batch) for batch in encoder.batches] == [2, 1, 1, 1]
