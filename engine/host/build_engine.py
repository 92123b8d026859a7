"""Builds an engine from its settings.

Does: construct each part with its own section of the settings and the parts that it calls. Does not: do any of their
work.
"""

import math
import os
import time
from contextlib import ExitStack
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import msgspec
from intaglio.grammar.api import Vocabulary

from ..build_runner import Built, build_runner, device_named
from ..config import EngineConfig
from ..drafts.proposals import Proposals
from ..executor import Executor
from ..grammars.budgeted_matcher import SEARCH_S
from ..grammars.constraints import Constraints
from ..grammars.device_constraints import DeviceConstraints, Exports
from ..grammars.schema_gate import CompilerService
from ..loop import Engine
from ..memory.adapter_slots import AdapterSlots
from ..memory.manager import KVManager
from ..memory.offload import Offload
from ..memory.pool import BlockPool
from ..memory.prefix import PrefixCache
from ..model.expected_tensors import expected_shapes
from ..model.expert_loads import counts_of
from ..model.layer_settings import LayerSettings
from ..model.vision_spec import image_format
from ..pipeline import OneAhead, Pipeline, PipelineOf, Serial
from ..ranks.group_executor import GroupExecutor
from ..ranks.rank_group import RankGroup, rank_config
from ..ranks.staged_executor import StagedExecutor
from ..run.kept_streams import KeptStreams
from ..schedule.admission import RequestLimits
from ..schedule.batch_sizing import BatchSizer
from ..schedule.scheduler import Scheduler
from ..schedule.stage_turns import StageTurns
from ..staged_pipeline import Staged
from ..text.tokenizer import Tokenizer
from ..types import ImageFormat
from .assembly import Assembly
from .build_drafts import MOST_AHEAD, Drafting, build_drafts, draft_settings, replayed
from .build_head import MOST_HEADED, chosen_head, head_maker
from .build_offload import TimedSteps, blocks_address, build_offload, layout_facts
from .build_tcp_exchange import serve_prompts
from .messages import EngineInfo
from .preparation import Preparation


def build(config: EngineConfig) -> Assembly:
    """Load the model that `config` names and build an engine for it.

    Raises:
        ModelError: the checkpoint cannot be used.
        ConfigError: a setting does not fit it, or the memory.
        EngineLost: a process of its other ranks has ended.
    """
    return build_prepared(Preparation.of(config))


def build_prepared(prepared: Preparation) -> Assembly:
    """The engine that was prepared. Raises as `build` does, after closing the preparation."""
    began = time.perf_counter()
    config, tokenizer, group = prepared.config, prepared.tokenizer, prepared.group
    closing = ExitStack()
    if group is not None:
        closing.callback(group.close)
        config = rank_config(config)
    ahead, staged = _runs_ahead(config), config.parallel.pp > 1
    chosen = chosen_head(config, ahead=ahead)
    sources = draft_settings(config.drafting, chosen, ahead=ahead, staged=staged)
    built = _built(config, tokenizer, group, () if chosen is None else chosen.spec.layers)
    closing.callback(built.runner.close)
    executor, vocabulary = _executor(config, built, group), prepared.compiler.vocabulary
    compiler_service = CompilerService(config.grammar, prepared.compiler)
    exports = Exports()
    closing.callback(exports.close)
    closing.callback(compiler_service.close)
    search_s = math.inf if ahead and not staged else SEARCH_S
    on_host = MOST_AHEAD if sources else 0
    constraints = _constraints(
        config, executor, compiler_service, exports, vocabulary, search_s, on_host
    )
    plain: PipelineOf = OneAhead if ahead else Serial
    head = head_maker(chosen, built, executor, config, constraints, tokenizer)
    drafting = build_drafts(sources, built, config, constraints, tokenizer, plain, head)
    offload = build_offload(config, built, prepared.sockets, closing)
    executor = replayed(sources, config, executor)
    images = image_format(Path(config.model.model), built.spec.vision)
    ends, width = frozenset(tokenizer.end_ids), built.spec.vocab_size
    limits = RequestLimits(built.max_context, width, ends, images)
    batches = config.parallel.batches(ahead=ahead) if staged else 0
    scheduler = _scheduler(config, built, limits, drafting and drafting.proposals, offload, batches)
    seconds = {"prepare": prepared.seconds, **built.seconds}
    seconds["build"] = round(time.perf_counter() - began, 3)
    info = msgspec.structs.replace(
        _info(config, built, images, seconds),
        draft_sources=tuple(source.name for source in sources),
        kv_address=blocks_address(config, prepared.sockets),
    )
    seeing = built.runner.images
    engine = Engine(
        scheduler,
        constraints,
        executor,
        pipeline=_pipeline(plain, batches, drafting, offload, ahead=ahead),
        adapters=built.adapters,
        images=None if seeing is None else (lambda: seeing.counts),
        experts=partial(counts_of, None if group is not None else built.experts),
    )
    facts = partial(layout_facts, config, built)
    steppable, drain = serve_prompts(engine, config, offload, facts, closing)
    return Assembly(
        engine=steppable,
        drain=drain,
        info=info,
        grammar_stats=lambda: compiler_service.cache.stats,
        close=closing.close,
        fault=(lambda: None) if group is None else (lambda: group.fault),
    )


def _runs_ahead(config: EngineConfig) -> bool:
    """Whether steps are launched before the last one is read, if they have no drafts."""
    overlap = config.scheduler.overlap
    return overlap == "on" or (
        overlap == "auto" and device_named(config.model.device).type != "cpu"
    )


def _executor(config: EngineConfig, built: Built, group: RankGroup | None) -> Executor[Any]:
    """The runner of this process, with the ranks of `group`, or with the streams for a draft head."""
    executor: Executor[Any] = built.runner
    if built.streams is not None:
        executor = KeptStreams(executor, built.streams, MOST_HEADED)
    if group is not None and config.parallel.tp > 1:
        executor = GroupExecutor(executor, group.last_stage)
    if group is not None and config.parallel.pp > 1:
        executor = StagedExecutor(executor, group.other_stages)
    return executor


def _info(
    config: EngineConfig, built: Built, images: ImageFormat | None, seconds: dict[str, float]
) -> EngineInfo:
    folder = Path(config.model.model).resolve()
    return EngineInfo(
        model=folder.name,
        context_length=built.max_context,
        parameters=sum(prod(shape) for shape in expected_shapes(built.spec).values()),
        vocabulary=built.spec.vocab_size,
        blocks=built.num_blocks - 1,  # block 0 is padding
        block_size=config.cache.block_size,
        kv_tokens=None if built.groups is None else built.groups.capacity(built.num_blocks - 1),
        device=built.device.type,
        dtype=str(built.runner.decoder.embedding.dtype).removeprefix("torch."),
        pid=os.getpid(),
        folder=str(folder),
        max_adapters=config.adapters.max_adapters,
        adapter_rank=config.adapters.adapter_rank,
        start_s=seconds,
        images=images,
        ranks=config.parallel.ranks,
        kv_role=config.cache.kv_role,
    )


def _built(
    config: EngineConfig, tokenizer: Tokenizer, group: RankGroup | None, streams: tuple[int, ...]
) -> Built:
    """The runner of this process: of the whole model, or of rank 0 of a group, when all ranks have built theirs.

    `streams`: see `LayerSettings`.
    """
    on_device = config.grammar.grammar_device == "auto"
    make = partial(
        build_runner,
        config.model,
        config.cache,
        config.scheduler,
        vocab=tokenizer.size,
        vocabulary=tokenizer.vocabulary if on_device else None,
        parallel=None if group is None else group.connect(tokenizer.size),
        adapters=config.adapters,
        layers=LayerSettings(config.has_block_groups, streams),
    )
    return make() if group is None else group.build(make)


def _pipeline(
    plain: PipelineOf,
    batches: int,
    drafting: Drafting | None,
    offload: Offload | None,
    *,
    ahead: bool,
) -> PipelineOf:
    """Makes the pipeline of an engine: `plain`, or one for drafts or stages; `batches` as in `_scheduler`."""
    pipeline = plain if drafting is None else drafting.pipeline
    if batches:
        pipeline = partial(Staged, batches=batches, ahead=ahead)
    return pipeline if offload is None else partial(_timed, pipeline, offload, ahead)


def _timed(
    pipeline: PipelineOf,
    offload: Offload,
    ahead: bool,
    scheduler: Scheduler,
    constraints: Constraints,
    executor: Executor[Any],
) -> Pipeline:
    """A pipeline that times its steps for the rule of the tiers."""
    return TimedSteps(pipeline(scheduler, constraints, executor), offload.rule, ahead=ahead)


def _constraints(
    config: EngineConfig,
    executor: Executor[Any],
    compiler_service: CompilerService,
    exports: Exports,
    vocabulary: Vocabulary,
    search_s: float,
    most_on_host: int,
) -> Constraints:
    """The constraints of an engine: with masks made by the executor where it can make them, else on the host."""
    end_tokens, texts = frozenset(vocabulary.end_ids), vocabulary.tokens
    device = None
    if executor.makes_masks:
        device = DeviceConstraints(
            executor, exports, end_tokens=end_tokens, texts=texts, most_on_host=most_on_host
        )
    return Constraints(
        compiler_service.cache,
        end_tokens=end_tokens,
        rows=executor.mask_buffer(2 * config.scheduler.max_running, vocabulary.width),
        texts=texts,
        device=device,
        search_s=search_s,
    )


def _scheduler(
    config: EngineConfig,
    built: Built,
    limits: RequestLimits,
    proposals: Proposals | None,
    offload: Offload | None,
    batches: int,
) -> Scheduler:
    """The scheduler of an engine; `batches`: the plans in flight of an engine in stages, 0 without stages."""
    size = config.cache.block_size
    memory = KVManager(
        BlockPool(built.num_blocks),
        size,
        PrefixCache(size, groups=built.groups) if config.cache.prefix_caching else None,
        offload,
        AdapterSlots(config.adapters.max_adapters),
        built.groups,
    )
    sizer = StageTurns(batches) if batches else BatchSizer(built.costs)
    return Scheduler(config.scheduler, memory, limits, time.monotonic, sizer, proposals)
