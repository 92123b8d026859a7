"""Builds an engine from its settings.

Does: construct each part with its own section of the settings and the parts that it calls. Does not: do any of their
work.
"""

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import prod
from pathlib import Path

from intaglio.grammar.api import Compiler, Vocabulary

from ..build_runner import Built, build_runner
from ..config import EngineConfig
from ..grammars.constraints import Constraints
from ..grammars.device_constraints import DeviceConstraints, Exports
from ..grammars.schema_gate import CompilerService, shared_bytes
from ..loop import Engine
from ..memory.manager import KVManager
from ..memory.pool import BlockPool
from ..memory.prefix import PrefixCache
from ..model.expected_tensors import expected_shapes
from ..pipeline import OneAhead, Serial
from ..schedule.admission import RequestLimits
from ..schedule.batch_sizing import BatchSizer
from ..schedule.scheduler import Scheduler
from ..text.tokenizer import Tokenizer
from .assembly import Assembly
from .messages import EngineInfo


def build(config: EngineConfig) -> Assembly:
    """Load the model that `config` names and build an engine for it.

    Raises:
        ModelError: the checkpoint cannot be used.
        ConfigError: a setting does not fit it, or the memory.
    """
    return prepare(config)()


def prepare(config: EngineConfig) -> Callable[[], Assembly]:
    """Do the part of `build` that uses no device, and return the rest of it.

    Raises:
        ModelError: the tokenizer cannot be used.
    """
    began = time.perf_counter()
    folder = Path(config.model.model)
    tokenizer = Tokenizer.load(folder)
    tokenizer.vocabulary()  # makes the bytes of all tokens, which the tokenizer keeps
    return partial(_build, config, tokenizer, time.perf_counter() - began)


def _build(config: EngineConfig, tokenizer: Tokenizer, prepare_s: float) -> Assembly:
    began = time.perf_counter()
    folder = Path(config.model.model)
    on_device = config.grammar.grammar_device == "auto"
    built = build_runner(
        config.model,
        config.cache,
        config.scheduler,
        vocab=tokenizer.size,
        vocabulary=tokenizer.vocabulary if on_device else None,
    )
    width = built.spec.vocab_size
    scheduler = Scheduler(
        config.scheduler,
        KVManager(
            BlockPool(built.num_blocks),
            config.cache.block_size,
            PrefixCache(config.cache.block_size) if config.cache.prefix_caching else None,
        ),
        RequestLimits(built.max_context, width, frozenset(tokenizer.end_ids)),
        time.monotonic,
        BatchSizer(built.costs),
    )
    vocabulary = tokenizer.vocabulary(width)
    compiler = Compiler(vocabulary, tokenizer.canonical, shared_bytes(config.grammar))
    compiler_service = CompilerService(config.grammar, compiler)
    exports = Exports()
    closing = ExitStack()
    closing.callback(exports.close)
    closing.callback(compiler_service.close)
    constraints = _constraints(config, built, compiler_service, exports, vocabulary)
    overlap = config.scheduler.overlap
    ahead = overlap == "on" or (overlap == "auto" and built.device.type != "cpu")
    info = EngineInfo(
        model=folder.resolve().name,
        context_length=built.max_context,
        parameters=sum(prod(shape) for shape in expected_shapes(built.spec).values()),
        vocabulary=width,
        blocks=built.num_blocks - 1,  # block 0 is padding
        block_size=config.cache.block_size,
        device=built.device.type,
        dtype=str(built.runner.decoder.embedding.dtype).removeprefix("torch."),
        pid=os.getpid(),
        start_s={
            "prepare": round(prepare_s, 3),
            **built.seconds,
            "build": round(time.perf_counter() - began, 3),
        },
    )
    return Assembly(
        engine=Engine(scheduler, constraints, built.runner, pipeline=OneAhead if ahead else Serial),
        info=info,
        grammar_stats=lambda: compiler_service.cache.stats,
        close=closing.close,
    )


def _constraints(
    config: EngineConfig,
    built: Built,
    compiler_service: CompilerService,
    exports: Exports,
    vocabulary: Vocabulary,
) -> Constraints:
    """The constraints of an engine: with masks made by the executor where it can make them, else on the host."""
    end_tokens, texts = frozenset(vocabulary.end_ids), vocabulary.tokens
    device = None
    if built.runner.makes_masks:
        device = DeviceConstraints(built.runner, exports, end_tokens=end_tokens, texts=texts)
    return Constraints(
        compiler_service.cache,
        end_tokens=end_tokens,
        rows=built.runner.mask_buffer(2 * config.scheduler.max_running, built.spec.vocab_size),
        texts=texts,
        device=device,
    )
