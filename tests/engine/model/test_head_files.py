"""The weights of draft heads load as published files have them, and each deviation is refused by name."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.draft_head import DraftHead, DraftVocabulary
from intaglio.engine.model.head_files import load_head
from intaglio.engine.model.head_spec import HeadSpec
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.weights import random_decoder
from intaglio.kernels.reference_kernels import ReferenceKernels

from tests.support.draft_heads import HEAD, TARGET, head_spec, head_weights, write_head

Weights = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def target() -> Decoder:
    return random_decoder(
        parse_spec(TARGET),
        kernels=ReferenceKernels(),
        dtype=torch.float32,
        device=torch.device("cpu"),
        positions=64,
    )


def loaded(folder: Path, target: Decoder, weights: Weights, spec: HeadSpec) -> DraftHead:
    return load_head(write_head(folder, weights=weights), spec, target, 64)


def test_a_head_shares_the_embedding_unless_it_has_its_own(tmp_path: Path, target: Decoder) -> None:
    spec = head_spec()
    weights = head_weights(spec)
    head = loaded(tmp_path / "shared", target, weights, spec)
    assert head.embedding is target.embedding
    assert isinstance(head.head, DraftVocabulary)
    assert head.head.tokens.tolist() == [*range(0, 238, 2), 257]
    own = torch.randn(300, 64)
    head = loaded(tmp_path / "own", target, {**weights, "embed_tokens.weight": own}, spec)
    assert torch.equal(head.embedding, own)


def test_a_head_of_all_tokens_needs_no_map(tmp_path: Path, target: Decoder) -> None:
    config = {**HEAD, "draft_vocab_size": 300}
    spec = head_spec(config)
    weights = head_weights(spec)
    del weights["d2t"], weights["t2d"]
    head = load_head(write_head(tmp_path / "head", config, weights), spec, target, 64)
    assert isinstance(head.head, DraftVocabulary)
    assert head.head.tokens.tolist() == list(range(300))


def without(name: str) -> Callable[[Weights], None]:
    def change(weights: Weights) -> None:
        del weights[name]

    return change


def replaced(name: str, tensor: torch.Tensor) -> Callable[[Weights], None]:
    def change(weights: Weights) -> None:
        weights[name] = tensor

    return change


def shifted(at: int, by: int) -> Callable[[Weights], None]:
    def change(weights: Weights) -> None:
        weights["d2t"][at] += by

    return change


def halved(weights: Weights) -> None:
    weights["t2d"][0] = False


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("midlayer.hidden_norm.weight"), r"missing midlayer\.hidden_norm\.weight"),
        (without("fc.weight"), r"missing fc\.weight"),
        (without("lm_head.weight"), r"missing lm_head\.weight"),
        (without("d2t"), "missing d2t"),
        (replaced("fc.bias", torch.zeros(64)), r"not used fc\.bias"),
        (replaced("midlayer.self_attn.q_norm.weight", torch.zeros(16)), r"not used midlayer"),
        (replaced("fc.weight", torch.zeros(64, 64)), r"fc\.weight is \[64, 64\], not \[64, 192\]"),
        (
            replaced("midlayer.self_attn.k_proj.weight", torch.zeros(32, 64)),
            r"k_proj\.weight is \[32, 64\], not \[32, 128\]",
        ),
        (replaced("d2t", torch.zeros(120)), "d2t is of floats, not int64"),
        (replaced("t2d", torch.zeros(300)), "t2d is of floats, not bool"),
        (shifted(119, 300), "none of the 300 tokens"),
        (shifted(0, -1), "none of the 300 tokens"),
        (shifted(0, 2), "are the same"),
        (halved, "t2d names other tokens than d2t"),
    ],
)
def test_each_deviation_is_refused_by_name(
    tmp_path: Path, target: Decoder, change: Callable[[Weights], None], message: str
) -> None:
    spec = head_spec()
    weights = head_weights(spec)
    change(weights)
    with pytest.raises(ModelError, match=message):
        loaded(tmp_path / "head", target, weights, spec)


def test_a_head_without_safetensors_is_refused(tmp_path: Path, target: Decoder) -> None:
    folder = write_head(tmp_path / "head")
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"there is no .*model\.safetensors"):
        load_head(folder, head_spec(), target, 64)


def test_a_head_of_another_width_needs_its_own_embedding(tmp_path: Path) -> None:
    wide = {**TARGET, "hidden_size": 128}
    config = {**HEAD, "target_hidden_size": 128}
    spec = head_spec(config, wide)
    target = random_decoder(
        parse_spec(wide),
        kernels=ReferenceKernels(),
        dtype=torch.float32,
        device=torch.device("cpu"),
        positions=64,
    )
    weights = head_weights(spec)
    assert weights.pop("embed_tokens.weight").shape == (300, 64)
    with pytest.raises(ModelError, match=r"missing embed_tokens\.weight"):
        load_head(write_head(tmp_path / "head", config, weights), spec, target, 64)
