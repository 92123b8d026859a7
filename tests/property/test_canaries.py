"""A sample of `canaries`."""

from pathlib import Path

import pytest

from tests.property import canaries
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("model"), QWEN3)


def test_every_answer_is_its_own(model: Path) -> None:
    seen = canaries.send(model, seed=2, requests=250)
    assert seen["stop"] + seen["abort"] == 250
    assert seen["abort"] > 5
    assert seen["cached"] > 0
    assert seen["preemptions"] > 0


def test_an_answer_that_is_mixed_up_is_found(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the canary that is asked for is another one than the caller remembers."""
    monkeypatch.setattr(canaries, "canary", lambda tenant, number: f"c{tenant:02}")
    honest = canaries._request

    def foreign(rng: object, name: str) -> object:
        request, own = honest(rng, name)  # type: ignore[arg-type]
        return request, own + "?"

    monkeypatch.setattr(canaries, "_request", foreign)
    with pytest.raises(AssertionError):
        canaries.send(model, seed=2, requests=30)
