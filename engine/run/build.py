"""From a model folder and settings to a runner that is ready.

Does: read the spec, load the weights, size and allocate the KV cache, warm up. Does not: tokenise or schedule.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from ...kernels.dispatch import choose
from ..config import CacheConfig, ModelConfig, SchedulerConfig
from ..errors import ConfigError
from ..model.spec import ModelSpec, read_spec
from ..model.weights import load_decoder
from .compute import HostCompute
from .kv import KVCache, count_blocks
from .rows import SequenceRows
from .runner import ModelRunner, RunnerLimits

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Built:
    """A runner, and the facts found while building it. Bytes and seconds."""

    runner: ModelRunner
    spec: ModelSpec
    num_blocks: int
    max_context: int
    cache_bytes: int
    load_s: float


def build_runner(
    model: ModelConfig,
    cache: CacheConfig,
    scheduler: SchedulerConfig,
    *,
    vocab: int | None = None,
) -> Built:
    """Build a runner on the CPU. `vocab` is the tokenizer's size, the model's own if None.

    Raises:
        ModelError: the checkpoint cannot be used.
        ConfigError: a setting does not fit the model, or the memory.
    """
    began = time.monotonic()
    if model.threads is not None:
        torch.set_num_threads(model.threads)
    folder = Path(model.model)
    spec = read_spec(folder)
    max_context = model.max_context if model.max_context is not None else spec.max_positions
    if max_context > spec.max_positions:
        raise ConfigError(
            f"the model has {spec.max_positions} positions, max_context asks for {max_context}",
            where="max_context",
        )
    device = torch.device("cpu")
    dtype = torch.float32 if model.dtype == "auto" else DTYPES[model.dtype]
    kernels = choose(device)
    num_blocks = count_blocks(
        cache, spec, dtype=dtype, max_running=scheduler.max_running, max_context=max_context
    )
    decoder = load_decoder(
        folder, spec, kernels=kernels, dtype=dtype, device=device, positions=max_context
    )
    kv = KVCache(spec, num_blocks, cache.block_size, dtype)
    limits = RunnerLimits(
        max_batched_tokens=scheduler.max_batched_tokens,
        max_running=scheduler.max_running,
        max_context=max_context,
        vocab=spec.vocab_size if vocab is None else min(vocab, spec.vocab_size),
    )
    rows = SequenceRows(scheduler.max_running, max_context, cache.block_size)
    runner = ModelRunner(decoder, kv, HostCompute(decoder, kv, rows.tables), rows, limits)
    runner.warm_up()
    return Built(runner, spec, num_blocks, max_context, kv.nbytes, time.monotonic() - began)
