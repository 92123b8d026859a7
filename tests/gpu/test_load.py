"""Weights on the device are those in the files, bit for bit, however they come there."""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.expected_tensors import expected_tensors
from intaglio.engine.model.file_tensors import FileTensors
from intaglio.engine.model.parallel_reads import ParallelReads
from intaglio.engine.model.sharded_weights import ShardedWeights
from intaglio.engine.model.spec import read_spec
from intaglio.engine.model.tensor_files import files_by_tensor
from intaglio.engine.model.tensor_source import TensorCut
from intaglio.engine.model.weight_uploads import CudaUploads
from intaglio.engine.model.weights import begin_decoder, load_decoder
from intaglio.engine.parallel.parallel_layout import ParallelLayout
from intaglio.kernels.dispatch import choose
from intaglio.kernels.linear.linear import DenseWeight
from safetensors.torch import load_file
from torch import Tensor

from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = torch.device("cuda")
CONFIG: dict[str, Any] = {
    **QWEN3,
    "vocab_size": 32_000,
    "hidden_size": 1024,
    "intermediate_size": 3072,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "tie_word_embeddings": False,
}
FUSED = {
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "output": ("self_attn.o_proj",),
    "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
    "down": ("mlp.down_proj",),
}


class PageableUploads(CudaUploads):
    """Copies where no memory can be pinned."""

    def buffer(self, nbytes: int) -> Tensor:
        return torch.empty(nbytes, dtype=torch.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("model"), CONFIG, shards=3)


def of_files(folder: Path, dtype: torch.dtype) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for path in folder.glob("*.safetensors"):
        found |= load_file(path)
    return {name: tensor.to(dtype) for name, tensor in found.items()}


def check(decoder: Decoder, dtype: torch.dtype, folder: Path) -> None:
    stored = of_files(folder, dtype)
    assert torch.equal(decoder.embedding.cpu(), stored["model.embed_tokens.weight"])
    assert isinstance(decoder.head, DenseWeight)
    assert torch.equal(decoder.head.matrix.cpu(), stored["lm_head.weight"])
    for i, layer in enumerate(decoder.layers):
        for part, names in FUSED.items():
            weight = getattr(layer.attention if part in ("qkv", "output") else layer.mlp, part)
            whole = torch.cat([stored[f"model.layers.{i}.{name}.weight"] for name in names])
            assert torch.equal(weight.matrix.cpu(), whole), (i, part)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("round_", range(3))
def test_all_matrices_are_those_of_the_files(folder: Path, dtype: torch.dtype, round_: int) -> None:
    given: dict[str, Any] = {"kernels": choose(DEVICE), "dtype": dtype, "device": DEVICE}
    with torch.inference_mode():
        decoder = load_decoder(folder, read_spec(folder), positions=64, **given)
        check(decoder, dtype, folder)
        del decoder  # the next one gets this memory, while work on it may be under way


@pytest.mark.parametrize("uploads", [CudaUploads, PageableUploads])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_small_rings_and_pageable_buffers_copy_the_same(
    folder: Path, uploads: type[CudaUploads], dtype: torch.dtype
) -> None:
    spec, stored = read_spec(folder), of_files(folder, dtype)
    files = files_by_tensor(folder)
    for chunk in (1 << 16, 1 << 20):
        with closing(ParallelReads(DEVICE, uploads(DEVICE), chunk, threads=5)) as reads:
            source = FileTensors(files, expected_tensors(spec), dtype, reads)
            places = {name: source.joined([TensorCut(name)]) for name in stored}
            waited = {name: source.tensor(name) for name in list(stored)[:9]}
            source.settle()
            for name, tensor in stored.items():
                assert torch.equal(places[name].cpu(), tensor), name
            for name, tensor in waited.items():
                assert torch.equal(tensor.cpu(), stored[name]), name


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_gets_its_rows_and_columns(folder: Path, rank: int) -> None:
    spec, stored = read_spec(folder), of_files(folder, torch.bfloat16)
    files = files_by_tensor(folder)
    matrices = [name for name, tensor in stored.items() if tensor.dim() == 2]
    with closing(ParallelReads(DEVICE)) as reads:
        whole = FileTensors(files, expected_tensors(spec), torch.bfloat16, reads)
        source = ShardedWeights.of(whole, spec, ParallelLayout(2, rank))
        places = {name: source.joined([TensorCut(name)]) for name in matrices}
        source.settle()
        for name, place in places.items():
            assert torch.equal(place, source.tensor(name)), name
            assert place.numel() == stored[name].numel() // 2


def test_matrices_are_whole_when_the_decoder_is_finished(folder: Path) -> None:
    given: dict[str, Any] = {"dtype": torch.bfloat16, "device": DEVICE, "positions": 64}
    with torch.inference_mode():
        begun = begin_decoder(folder, read_spec(folder), kernels=choose(DEVICE), **given)
        begun.finish()
        check(begun.decoder, torch.bfloat16, folder)


def test_a_runner_has_the_weights_of_the_files(folder: Path) -> None:
    """They are filled while kernels are prepared, and those of a second engine while its kernels run."""
    for _ in range(2):
        built = build_runner(
            ModelConfig(model=str(folder), device="cuda", max_context=256),
            CacheConfig(num_blocks=64),
            SchedulerConfig(max_batched_tokens=128, max_running=8),
        )
        check(built.runner.decoder, torch.bfloat16, folder)
        assert "last weights" in built.seconds
        built.runner.close()
        del built
