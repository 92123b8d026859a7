"""Whole decoders of model families on the Triton kernels, against the same weights on the kernels' definitions.

Without a GPU the kernels run in the interpreter: a few tokens of the smallest models.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.weights import load_decoder
from intaglio.kernels.contracts import Kernels, Ragged
from intaglio.kernels.gpu import GpuKernels
from intaglio.kernels.reference_kernels import ReferenceKernels

from tests.support.tiny_checkpoint import write_checkpoint
from tests.support.tiny_families import GEMMA3, GRANITE, OLMO2, PHI4_MINI, SMOLLM3

HOST = torch.device("cpu")
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SIZES = {"hidden_size": 32, "intermediate_size": 48, "vocab_size": 40, "num_attention_heads": 2}
BLOCK, POSITIONS = 16, 48
PROMPT = (5, 17, 3, 39, 8)

CONFIGS: dict[str, dict[str, Any]] = {
    "gemma3": {**GEMMA3, **SIZES, "layer_types": ["sliding_attention", "full_attention"]},
    "granite": {**GRANITE, **SIZES},
    "olmo2": {**OLMO2, **SIZES},
    "phi4-mini": {**PHI4_MINI, **SIZES},
    "smollm3": {**SMOLLM3, **SIZES},
}


def logits(decoder: Decoder, device: torch.device) -> torch.Tensor:
    """The logits [2, vocab] after a prompt, and after one more token."""
    spec = decoder.spec
    shape = (spec.layers, 2, 4, BLOCK, spec.kv_heads, spec.head_dim)
    caches = torch.zeros(shape, device=device).unbind(0)
    found = []
    for first, tokens in ((0, PROMPT), (len(PROMPT), (11,))):
        count = len(tokens)
        starts, lengths, table = (
            torch.tensor(values, dtype=torch.int32, device=device)
            for values in ([0, count], [first + count], [[2, 0]])
        )
        ragged = Ragged(starts, lengths, table)
        at = torch.arange(first, first + count, device=device)
        step = decoder.step(ragged, at, at + 2 * BLOCK, caches[0].shape)
        hidden = decoder.hidden(torch.tensor(tokens, device=device), caches, step)
        found.append(decoder.logits(hidden)[-1, : spec.vocab_size].float().cpu())
    return torch.stack(found)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_family_computes_the_same_on_both_kernels(name: str, tmp_path: Path) -> None:
    config = {**CONFIGS[name], "num_hidden_layers": 2}
    folder, spec = write_checkpoint(tmp_path, config), parse_spec(config)

    def load(kernels: Kernels, device: torch.device) -> torch.Tensor:
        decoder = load_decoder(
            folder,
            spec,
            kernels=kernels,
            dtype=torch.float32,
            device=device,
            positions=POSITIONS,
        )
        return logits(decoder, device)

    with torch.inference_mode():
        expected = load(ReferenceKernels(), HOST)
        got = load(GpuKernels(DEVICE), DEVICE)
    assert expected.std() > 0.1
    torch.testing.assert_close(got, expected, atol=2e-3, rtol=1e-3)
