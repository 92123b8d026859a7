"""Builds a ready runner from a model folder and settings.

Does: choose the device, read the spec, load or draw the weights, size and allocate the KV cache, warm up. Does not:
tokenise or schedule.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch
from intaglio.grammar.api import Vocabulary
from intaglio.kernels.contracts import Kernels
from intaglio.kernels.dispatch import choose

from .adapter_settings import AdapterSettings
from .config import CacheConfig, ModelConfig, SchedulerConfig
from .errors import ConfigError
from .memory.block_groups import BlockGroups
from .model.adapter_tables import adapted_decoder
from .model.decoder import Decoder
from .model.expected_tensors import layer_matrices
from .model.expert_loads import ExpertLoads, counted_decoder
from .model.layer_settings import LayerSettings, set_layers
from .model.layer_streams import LayerStreams
from .model.schemes import AT_LOADING
from .model.schemes.coded import Coded
from .model.schemes.mxfp4 import Mxfp4Experts
from .model.schemes.scheme import Dense, Uniform
from .model.sequence_weights import refuse_undivided_tokens
from .model.sharded_weights import refuse_indivisible, sharded_spec
from .model.spec import ModelSpec, read_spec
from .model.staged_layers import refuse_unstageable, stage_layers, staged_spec
from .model.weights import BegunDecoder, begin_decoder, load_encoder, random_decoder
from .parallel.parallel_layout import Parallel
from .plan import StepCosts
from .run.adapter_store import AdapterStore
from .run.compute import HostCompute
from .run.host.looped_kernels import LoopedKernels, has_loops
from .run.prefill_attention import attention_of_prompts
from .run.runner import ModelRunner, RunnerLimits
from .run.runner_parts import RunnerParts

if TYPE_CHECKING:
    from .run.cuda.grammar_masks import DeviceGrammarMasks


NO_ADAPTERS = AdapterSettings()
PLAIN_LAYERS = LayerSettings()
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True, slots=True)
class Built:
    """A runner, and the facts found while building. `spec` is that of the whole model.

    `costs`: the measured costs of steps replayed by CUDA graph; None without graphs. `seconds`: the time of each part.
    `adapters`: None without places for them. `experts`: the counts of the model's experts, None where there are none.
    `groups`: the block groups that plans are made for; None: one of all layers. `streams`: see `LayerSettings`.
    """

    runner: ModelRunner
    spec: ModelSpec
    device: torch.device
    num_blocks: int
    max_context: int
    cache_bytes: int
    costs: StepCosts | None
    seconds: dict[str, float]
    adapters: AdapterStore | None = None
    experts: ExpertLoads | None = None
    groups: BlockGroups | None = None
    streams: LayerStreams | None = None


class Laps:
    """The seconds of consecutive parts of a start."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.seconds: dict[str, float] = {}

    @classmethod
    def begun(cls, device: torch.device) -> Self:
        """Those of a start on `device`; the first one makes its context."""
        laps = cls()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        laps.over("device")
        return laps

    def over(self, part: str) -> None:
        """Count the time since the last part as that of `part`."""
        now = time.perf_counter()
        self.seconds[part] = round(now - self._last, 3)
        self._last = now


def build_runner(
    model: ModelConfig,
    cache: CacheConfig,
    scheduler: SchedulerConfig,
    *,
    vocab: int | None = None,
    vocabulary: Callable[[int], Vocabulary] | None = None,
    parallel: Parallel | None = None,
    adapters: AdapterSettings = NO_ADAPTERS,
    layers: LayerSettings = PLAIN_LAYERS,
) -> Built:
    """Build a runner. `vocab` is the tokenizer's size, the model's own if None.

    `vocabulary` gives the tokens of a width, from which a GPU makes masks itself; None: it makes none. With `parallel`
    it is the runner of one rank, and every rank builds one at the same time.

    Raises:
        ModelError: the checkpoint cannot be used.
        ConfigError: a setting does not fit the model, the device, or the memory.
    """
    if model.threads is not None:
        torch.set_num_threads(model.threads)
    spec = _spec(model)
    device = device_named(model.device)
    refuse_experts(spec, device, parallel)
    _refuse_adapters(spec, adapters)
    own = _own_part(spec, parallel)
    _refuse_invariance(model, spec, device, parallel)
    max_context = context_limit(model.max_context, spec)
    limits = RunnerLimits(
        max_batched_tokens=scheduler.max_batched_tokens,
        max_running=scheduler.max_running,
        max_context=max_context,
        vocab=spec.vocab_size if vocab is None else min(vocab, spec.vocab_size),
    )
    dtype = model_dtype(model.dtype, spec, device)
    laps = Laps.begun(device)
    with torch.inference_mode(), ExitStack() as closing:
        prompts = attention_of_prompts(model, cache, own, dtype, device)
        kernels: Kernels = LoopedKernels()
        if model.deterministic or not has_loops(spec, device, dtype):
            kernels = choose(device, prompts, dtype if model.deterministic else None)
        begun = _decoder(model, spec, kernels, dtype, device, max_context, parallel)
        closing.callback(begun.close)
        decoder, store = _with_adapters(begun.decoder, adapters)
        decoder, loads = counted_decoder(decoder)
        drawn = model.weights == "random"
        encoder = load_encoder(Path(model.model), spec, dtype, device, drawn=drawn)
        laps.over("weights")
        masks = None
        if vocabulary is not None and device.type == "cuda":
            # Not loaded where there is no GPU.
            from .run.cuda.grammar_masks import DeviceGrammarMasks

            masks = DeviceGrammarMasks(vocabulary(spec.vocab_size), device, limits.max_running)
        decoder, layout, streams = set_layers(decoder, layers)
        parts = RunnerParts(decoder, cache, limits, parallel, store, encoder, loads, layout)
        runner, costs = (_host if device.type == "cpu" else _gpu)(parts, masks, begun, laps)
        laps.over("warm up")
    kv = runner.cache
    return Built(
        *(runner, spec, device, kv.num_blocks, max_context, kv.nbytes, costs, laps.seconds),
        store,
        loads,
        parts.groups if layers.grouped else None,
        streams,
    )


def _own_part(spec: ModelSpec, parallel: Parallel | None) -> ModelSpec:
    """The part of the model that this process computes. Raises `ConfigError` if it cannot be divided like that."""
    if parallel is None:
        return spec
    whole = spec
    if parallel.matrices is not None:
        refuse_indivisible(spec, parallel.matrices.layout.tp)
        if parallel.matrices.divided_from is not None:
            refuse_undivided_tokens(spec)
        spec = sharded_spec(spec, parallel.matrices.layout)
    if parallel.stage is not None:
        refuse_unstageable(spec, parallel.stage.layout.pp)
        spec = staged_spec(spec, stage_layers(whole, parallel.stage.layout))
    return spec


def _with_adapters(
    decoder: Decoder, settings: AdapterSettings
) -> tuple[Decoder, AdapterStore | None]:
    """The decoder with places for adapters, and the store that fills them; None without places."""
    if not settings.max_adapters:
        return decoder, None
    decoder, tables = adapted_decoder(decoder, settings.max_adapters, settings.adapter_rank)
    pinned = decoder.embedding.device.type == "cuda"
    return decoder, AdapterStore(tables, settings.adapter_host_bytes, pinned=pinned)


def _spec(model: ModelConfig) -> ModelSpec:
    """The spec of the checkpoint, its matrices in the schemes of the setting `quantization`."""
    spec = read_spec(Path(model.model))
    if model.quantization == "none":
        return spec
    if spec.schemes != Uniform():
        raise ConfigError(
            "the checkpoint is quantised already",
            where="quantization",
            hint="leave quantization at none: the weights are used as they are stored",
        )
    if spec.family.experts is not None and spec.family.experts.stacked is not None:
        raise ConfigError(
            f"the experts of {spec.family.name} models cannot be stored in other formats than their own",
            where="quantization",
            hint="leave quantization at none",
        )
    return replace(spec, schemes=Uniform(AT_LOADING[model.quantization]))


def device_named(name: str) -> torch.device:
    """The device of the setting `device`. Raises `ConfigError` if there is none."""
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ConfigError("torch finds no usable GPU", where="device", hint="set device to cpu")
    return torch.device("cpu" if name == "cpu" or not there else "cuda")


def refuse_experts(spec: ModelSpec, device: torch.device, parallel: Parallel | None = None) -> None:
    """Raise `ConfigError` for experts that run on a CPU only.

    A GPU has no kernels for quantised experts in formats other than MXFP4, or for the families with latent attention.
    Stages with experts have not run on GPUs yet.
    """
    layout = spec.family.experts
    if spec.experts is None or layout is None or device.type != "cuda":
        return
    if spec.family.cpu_only:
        raise ConfigError(
            f"{spec.family.name} models run on a CPU only", where="device", hint="set device to cpu"
        )
    if parallel is not None and parallel.stage is not None:
        raise ConfigError(
            f"mixtures of experts ({spec.family.name}) are not divided into stages on GPUs",
            where="pp",
            hint="set pp to 1, or device to cpu",
        )
    layer = spec.experts.layers.index(True)
    schemes = [spec.schemes.of(name.format(i=layer, e=0)) for name in layout.linears.values()]
    if any(scheme != Dense() for scheme in schemes):
        raise ConfigError(
            f"quantised experts ({spec.family.name}) run on a CPU only",
            where="device",
            hint="set device to cpu, or load the checkpoint that was not quantised",
        )


def _refuse_adapters(spec: ModelSpec, settings: AdapterSettings) -> None:
    """Raise `ConfigError` for adapters of latent attention: its matrices are absorbed into queries and outputs."""
    if settings.max_adapters and spec.latent is not None:
        raise ConfigError(
            f"adapters of {spec.family.name} models are not supported",
            where="max_adapters",
            hint="set max_adapters to 0, and merge the adapter into the model",
        )


def _refuse_invariance(
    model: ModelConfig, spec: ModelSpec, device: torch.device, parallel: Parallel | None
) -> None:
    """Raise `ConfigError` for what has no batch-invariant kernels on a GPU, if the engine is deterministic."""
    if not model.deterministic or device.type != "cuda":
        return
    found = None
    if spec.experts is not None:
        found = "mixtures of experts"
    elif model.quantization != "none":
        found = "weights that are quantised while they are loaded"
    elif parallel is not None:
        found = "a model on several GPUs"
    if found is not None:
        raise ConfigError(
            f"a deterministic engine on a GPU does not support {found}",
            where="deterministic",
            hint="set device to cpu, or leave deterministic at false",
        )


def context_limit(max_context: int | None, spec: ModelSpec) -> int:
    """The longest context in tokens: `max_context`; None: all positions of the model. Raises `ConfigError` beyond."""
    most = spec.max_positions
    if max_context is not None and max_context > most:
        raise ConfigError(
            f"the model has {most} positions, max_context asks for {max_context}",
            where="max_context",
        )
    return most if max_context is None else max_context


def model_dtype(name: str, spec: ModelSpec, device: torch.device) -> torch.dtype:
    """The dtype in which a model computes on `device`; `name` is that of the settings."""
    if name == "auto":
        # The weights of a published quantised checkpoint keep their few bits only in bfloat16 (`stored_codes`).
        compact = isinstance(spec.schemes, Mxfp4Experts) or any(
            isinstance(spec.schemes.of(matrix), Coded) for matrix in layer_matrices(spec, 0)
        )
        return torch.float32 if device.type == "cpu" and not compact else torch.bfloat16
    return DTYPES[name]


def _decoder(
    model: ModelConfig,
    spec: ModelSpec,
    kernels: Kernels,
    dtype: torch.dtype,
    device: torch.device,
    positions: int,
    parallel: Parallel | None,
) -> BegunDecoder:
    given: dict[str, Any] = {
        "kernels": kernels,
        "dtype": dtype,
        "device": device,
        "positions": positions,
        "parallel": parallel,
    }
    if model.weights == "random":
        return BegunDecoder(random_decoder(spec, **given))
    return begin_decoder(Path(model.model), spec, **given)


def _host(
    parts: RunnerParts, masks: "DeviceGrammarMasks | None", begun: BegunDecoder, laps: Laps
) -> tuple[ModelRunner, StepCosts | None]:
    assert masks is None, "a host has its masks made by the grammar"
    begun.finish()
    laps.over("last weights")
    kv, rows = parts.kv(parts.count()), parts.rows()
    compute = HostCompute(
        parts.decoder, kv, rows.blocks.tables, parts.limits.vocab, loads=parts.experts
    )
    runner = ModelRunner(
        parts.decoder, kv, compute, rows, parts.limits, parts.adapters, parts.images()
    )
    runner.warm_up()
    if parts.experts is not None:
        parts.experts.clear()
    return runner, None


def _gpu(
    parts: RunnerParts, masks: "DeviceGrammarMasks | None", begun: BegunDecoder, laps: Laps
) -> tuple[ModelRunner, StepCosts | None]:
    # Not loaded where there is no GPU.
    from intaglio.kernels.runtime.precompile import compile_ahead

    from .run.cuda.memory_profile import free_bytes, gpu_runner, run_all

    def warm_up_masks() -> None:
        if masks is not None:
            masks.warm_up(parts.decoder.spec.vocab_size)

    def run() -> None:
        warm_up_masks()
        run_all(parts, masks)

    compile_ahead(run)  # what the kernels compute is not used, so matrices may be filled meanwhile
    laps.over("kernels")
    begun.finish()
    laps.over("last weights")
    warm_up_masks()
    runner, compute = gpu_runner(parts, masks, parts.count(free_bytes(parts, masks)))
    laps.over("memory")
    costs = compute.capture()
    laps.over("graphs")
    runner.warm_up()
    return runner, costs
