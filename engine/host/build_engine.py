"""Builds an engine from its settings.

Does: construct each part with its own section of the settings and the parts that it calls. Does not: do any of their
work.
"""

import math
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from math import prod
from pathlib import Path

from intaglio.grammar.api import Compiler, Vocabulary

from ..build_runner import Built, build_runner
from ..config import DraftConfig, EngineConfig
from ..drafts.document import DocumentSource
from ..drafts.lengths import DraftLengths
from ..drafts.proposals import Proposals
from ..drafts.verified_steps import VerifiedSteps
from ..errors import ConfigError
from ..grammars.budgeted_matcher import TURN_S
from ..grammars.constraints import Constraints
from ..grammars.device_constraints import DeviceConstraints, Exports
from ..grammars.schema_gate import CompilerService, shared_bytes
from ..loop import Engine
from ..memory.manager import KVManager
from ..memory.pool import BlockPool
from ..memory.prefix import PrefixCache
from ..model.expected_tensors import expected_shapes
from ..pipeline import OneAhead, Pipeline, Serial
from ..run.runner import ModelRunner
from ..run.step_costs import measured_costs
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
    overlap = config.scheduler.overlap
    ahead = overlap == "on" or (overlap == "auto" and built.device.type != "cpu")
    if ahead:
        _refuse_drafts(config.drafting)
    vocabulary = tokenizer.vocabulary(width)
    compiler = Compiler(vocabulary, tokenizer.canonical, shared_bytes(config.grammar))
    compiler_service = CompilerService(config.grammar, compiler)
    exports = Exports()
    closing = ExitStack()
    closing.callback(exports.close)
    closing.callback(compiler_service.close)
    turn_s = math.inf if ahead else TURN_S
    constraints = _constraints(config, built, compiler_service, exports, vocabulary, turn_s)
    proposals = _proposals(built, constraints) if config.drafting.drafts == "document" else None
    limits = RequestLimits(built.max_context, width, frozenset(tokenizer.end_ids))
    scheduler = _scheduler(config, built, limits, proposals)
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
    pipeline: Callable[[Scheduler, Constraints, ModelRunner], Pipeline]
    pipeline = OneAhead if ahead else Serial
    if proposals is not None:
        pipeline = partial(VerifiedSteps, proposals=proposals)
    return Assembly(
        engine=Engine(scheduler, constraints, built.runner, pipeline=pipeline),
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
    turn_s: float,
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
        turn_s=turn_s,
    )


def _scheduler(
    config: EngineConfig, built: Built, limits: RequestLimits, proposals: Proposals | None
) -> Scheduler:
    size = config.cache.block_size
    memory = KVManager(
        BlockPool(built.num_blocks),
        size,
        PrefixCache(size) if config.cache.prefix_caching else None,
    )
    sizer = BatchSizer(built.costs)
    return Scheduler(config.scheduler, memory, limits, time.monotonic, sizer, proposals)


def _refuse_drafts(config: DraftConfig) -> None:
    """Raise `ConfigError` if drafts are on: an engine that runs one step ahead cannot draft."""
    if config.drafts != "off":
        raise ConfigError(
            f"drafts {config.drafts!r} need a model on a CPU, with overlap off",
            where="drafts",
            hint="set drafts to off, or device to cpu and overlap to auto",
        )


def _proposals(built: Built, constraints: Constraints) -> Proposals:
    """The drafts of an engine; measures what its steps cost."""
    return Proposals(DocumentSource(), DraftLengths(measured_costs(built.runner)), constraints)
