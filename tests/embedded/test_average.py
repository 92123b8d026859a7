"""The average of two models, one of them quantised."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from intaglio.engine.quantize.quantization import CalibrationTexts
from intaglio.engine.quantize.quantize_checkpoint import quantize_checkpoint

from examples.train_embedded.average import average
from examples.train_embedded.model import Decoder, Shape, save, weights_of
from tests.embedded.test_train import SHAPE


def model(folder: Path, seed: int, shape: Shape = SHAPE) -> Path:
    torch.manual_seed(seed)
    save(folder, shape, Decoder(shape).state_dict(), end=2, pad=0)
    return folder


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_weights_lie_between_those_of_both(share: float, tmp_path: Path) -> None:
    first, second = model(tmp_path / "a", 1), model(tmp_path / "b", 2)
    rounded = tmp_path / "int8"
    quantize_checkpoint(second, rounded, "int8", CalibrationTexts(), lambda *_: None)
    average(first, rounded, share, tmp_path / "out")
    ours, old, new = weights_of(tmp_path / "out"), weights_of(first), weights_of(rounded)
    assert ours.keys() == dict(Decoder(SHAPE).named_parameters()).keys()
    for name, weight in ours.items():
        right = (1 - share) * old[name].float() + share * new[name].float()
        torch.testing.assert_close(weight.float(), right, rtol=1e-2, atol=1e-3)
        assert torch.allclose(new[name].float(), weights_of(second)[name].float(), atol=2e-3)


def test_kept_weights_stay_those_of_the_first(tmp_path: Path) -> None:
    first, second = model(tmp_path / "a", 1), model(tmp_path / "b", 2)
    average(first, second, 0.5, tmp_path / "out", kept=["self_attn"])
    ours, old = weights_of(tmp_path / "out"), weights_of(first)
    changed = {name for name, weight in ours.items() if not torch.equal(weight, old[name])}
    assert changed
    assert not any("self_attn" in name for name in changed)
    assert any("mlp" in name for name in changed)


def test_models_of_different_shapes_are_refused(tmp_path: Path) -> None:
    first = model(tmp_path / "a", 1)
    second = model(tmp_path / "b", 1, replace(SHAPE, num_hidden_layers=2))
    with pytest.raises(ValueError, match="different shapes"):
        average(first, second, 0.5, tmp_path / "out")
