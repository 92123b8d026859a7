"""Drafts on a GPU, among steps that are computed one ahead: the tokens of an engine without drafts."""

from pathlib import Path

import pytest
import torch

from tests.property.drafts import compare
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]


def test_drafts_change_no_token_and_save_steps(tmp_path: Path) -> None:
    """Random requests, with drafts of all sources, twenty at once; log-probabilities differ in their last bits."""
    model = write_checkpoint(tmp_path, QWEN3)
    result = compare(model, 100, deterministic=False, ahead=True)
    assert len(result.different) <= 3, f"more than near ties differ: {result.different}"
    drafts = result.snapshot.drafts
    assert sum(drafts.drafted.values()) > sum(drafts.accepted.values()) > 200
    assert result.snapshot.passes < 0.85 * result.snapshot.output_tokens
