"""The GPU memory that is left for keys and values, and the construction of a GPU runner.

Does: run the largest possible step once and measure the free memory after it; run steps of every kind, so that their
kernels are compiled; construct the runner of a GPU. Does not: decide how the memory is used (`kv`).
"""

from dataclasses import replace

import torch
from intaglio.grammar.api import empty_rows

from ...plan import NO_ADAPTER, Admitted, Masks, Plan, Work
from ...types import SamplingParams
from ..image_states import largest_image
from ..runner import ModelRunner
from ..runner_parts import RunnerParts
from .compute_gpu import GpuCompute
from .grammar_masks import DeviceGrammarMasks

GRAPHS_BYTES = 512 << 20
"""Bytes left for captured passes, made after the cache, in addition to a batch of logits. Measured: 0.1 to 0.3 GiB."""

GATHERED = 3
"""Batches of logits in memory where ranks gather them: padded parts, all parts, and whole rows."""


def gpu_runner(
    parts: RunnerParts, masks: DeviceGrammarMasks | None, num_blocks: int
) -> tuple[ModelRunner, GpuCompute]:
    """A runner with a cache of `num_blocks`, and its `GpuCompute`, which has captured nothing yet."""
    kv, rows, limits = parts.kv(num_blocks), parts.rows(), parts.limits
    compute = GpuCompute(
        parts.decoder,
        kv,
        rows.blocks.tables,
        vocab=limits.vocab,
        most_tokens=limits.max_batched_tokens,
        captured=min(2 * limits.max_running, limits.max_batched_tokens),
        masker=masks,
        streams=None if masks is None else masks.streams,
    )
    adapters, images = parts.adapters, parts.images()
    runner = ModelRunner(parts.decoder, kv, compute, rows, limits, adapters, images)
    return runner, compute


def run_all(parts: RunnerParts, masks: DeviceGrammarMasks | None) -> None:
    """Launch all kernels of small and large steps, in a model of two layers: the last, and one like all others."""
    count = min(2, len(parts.decoder.layers))
    decoder = parts.decoder.last(count)
    layout = None if parts.layout is None else parts.layout.last(count)
    small = replace(parts, decoder=decoder, layout=layout)
    free_bytes(small, masks)
    if decoder.divided is not None:  # the kernels of steps that are not divided by tokens, too
        free_bytes(replace(small, decoder=replace(decoder, divided=None)), masks)
    runner, compute = gpu_runner(small, masks, 2)
    compute.run_sizes()
    runner.warm_up()


def free_bytes(parts: RunnerParts, masks: DeviceGrammarMasks | None) -> int:
    """Bytes of GPU memory for keys and values, by `memory_fraction`: the memory that the largest step leaves free."""
    limits, size = parts.limits, parts.cache.block_size
    sequences = min(limits.max_running, limits.max_batched_tokens)
    share = min(limits.max_batched_tokens // sequences, limits.max_context)
    per_sequence = -(-share // size)
    runner, _ = gpu_runner(parts, masks, 1 + sequences * per_sequence)
    adapter = NO_ADAPTER if parts.adapters is None else 0
    for sampling in (SamplingParams(seed=0), SamplingParams(seed=0, top_p=0.9)):
        admitted, works = [], []
        for number in range(sequences):
            tokens = (0,) * share
            blocks = tuple(range(1 + number * per_sequence, 1 + (number + 1) * per_sequence))
            others = (blocks,) * (parts.groups.count - 1)
            admitted.append(
                Admitted(number, tokens, share, blocks, sampling, adapter, other_tables=others)
            )
            works.append(Work(number, 0, tokens, logits=int(parts.decoder.samples)))
        released = () if sampling.top_p == 1 else tuple(range(sequences))
        handle = runner.forward(Plan(1, tuple(admitted), tuple(works), released))
        runner.sample(handle, Masks(empty_rows(0, 1), {}))
        runner.sampled(handle)
    if parts.encoder is not None:
        parts.encoder.encode([largest_image(parts.encoder.spec)])
    taken = runner.cache.nbytes
    torch.cuda.synchronize()
    free, total = torch.cuda.mem_get_info()
    del runner, handle
    torch.cuda.empty_cache()
    decoder = parts.decoder
    logits = limits.max_running * decoder.spec.vocab_size * decoder.embedding.element_size()
    batches = 0 if not decoder.samples else 1 if decoder.shard is None else GATHERED
    graphs = GRAPHS_BYTES + logits * batches
    images = 0 if parts.encoder is None else parts.cache.image_bytes
    return int(total * parts.cache.memory_fraction) - (total - free - taken) - graphs - images
