"""Builds the drafts of an engine from its settings.

Does: choose and construct the sources of drafts, and load a draft model. Does not: draft.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ..build_runner import Built, build_runner
from ..config import CacheConfig, EngineConfig, SchedulerConfig
from ..draft_config import DraftConfig, DraftSetting
from ..drafts.document import DocumentSource
from ..drafts.draft_tables import DraftTables
from ..drafts.drafted_or_ahead import DraftedOrAhead
from ..drafts.earlier_answers import RowsSource
from ..drafts.free_answer import FreeAnswerSource
from ..drafts.lengths import DraftLengths
from ..drafts.likely import LikelySource
from ..drafts.model import DraftModel, ModelSource
from ..drafts.pipeline_seconds import PipelineSeconds
from ..drafts.proposals import Proposals
from ..drafts.replayed_draws import ReplayedDraws, ReplaySource, parse_rates
from ..drafts.source import DraftSource
from ..drafts.step_seconds import FIRST_SLOPE, MOST_TOKENS, StepSeconds
from ..drafts.verified_steps import VerifiedSteps
from ..errors import ConfigError
from ..executor import Executor
from ..grammars.constraints import Constraints
from ..model.spec import read_spec
from ..pipeline import PipelineOf, Serial
from ..plan import StepCosts
from ..text.tokenizer import Tokenizer
from .build_head import ChosenHead

AUTO = (DraftSetting("document", ""), DraftSetting("rows", ""), DraftSetting("free", ""))
"""The sources of the setting "auto" on a CPU."""

MOST_DRAFTED = 8
"""Sequences with keys and values in the cache of a draft model."""


MOST_AHEAD: Final = 8
"""Sequences for which an engine that runs one step ahead drafts: their masks are made on the host, one by one."""


class Drafting(NamedTuple):
    """The proposals of an engine, and its pipeline, which verifies them and measures the costs they depend on."""

    proposals: Proposals
    pipeline: PipelineOf


def draft_settings(
    config: DraftConfig, head: ChosenHead | None = None, *, ahead: bool, staged: bool
) -> tuple[DraftSetting, ...]:
    """The sources of drafts. The setting "auto" names none for an engine in stages or one step `ahead`.

    Elsewhere it includes the `head` that the checkpoint brings.

    Raises:
        ConfigError: the setting names some that such an engine cannot have.
    """
    sources = config.sources
    if sources is None:
        brought = () if head is None else (head.setting,)
        return () if ahead or staged else (*AUTO, *brought)
    if staged and sources:
        raise ConfigError(
            f"an engine in stages has no drafts, and drafts is {config.drafts!r}",
            where="drafts",
            hint="set drafts to auto or off",
        )
    if ahead and any(source.name == "model" for source in sources):
        raise ConfigError(
            f"drafts {config.drafts!r}: a draft model needs a model on a CPU, with overlap off",
            where="drafts",
            hint="name other sources, or set device to cpu and overlap to auto",
        )
    return sources


def build_drafts(
    settings: tuple[DraftSetting, ...],
    built: Built,
    config: EngineConfig,
    constraints: Constraints,
    tokenizer: Tokenizer,
    plain: PipelineOf,
    head: Callable[[StepSeconds], DraftSource] | None = None,
) -> Drafting | None:
    """The drafts of an engine with these sources, in this order; None without any.

    `plain`: the engine's pipeline without drafts. `head` makes the source of a draft head.

    Raises:
        ConfigError: a draft model does not fit.
        ModelError: a draft model cannot be used.
    """
    if not settings:
        return None
    serial, either = StepSeconds(), PipelineSeconds(_slope(built.costs))
    sources = [
        head(serial)
        if each.name == "head" and head is not None
        else _source(each, built, config, constraints, tokenizer, serial)
        for each in settings
    ]
    pipeline: PipelineOf
    if plain is Serial:
        proposals = Proposals(sources, DraftLengths(serial), constraints)
        pipeline = partial(VerifiedSteps, proposals=proposals, seconds=serial)
    else:
        lengths = DraftLengths(either, either.plain)
        proposals = Proposals(sources, lengths, constraints, MOST_AHEAD)
        pipeline = partial(DraftedOrAhead, plain=plain, proposals=proposals, seconds=either)
    return Drafting(proposals, pipeline)


def _slope(costs: StepCosts | None) -> float:
    """The relative cost of one more token in a small step, by the measured passes."""
    if costs is None:
        return FIRST_SLOPE
    (_, least), *others = costs.seconds
    tokens, seconds = max([each for each in others if each[0] <= MOST_TOKENS], default=(2, least))
    return max(0.0, seconds / least - 1) / (tokens - 1)


def replayed(
    settings: tuple[DraftSetting, ...], config: EngineConfig, executor: Executor[Any]
) -> Executor[Any]:
    """The executor of an engine: `executor`, or with the source "replay" one that replays its rates.

    Raises:
        ConfigError: rates are to be replayed for trained weights.
    """
    rates = [setting.argument for setting in settings if setting.name == "replay"]
    if not rates:
        return executor
    if config.model.weights != "random":
        raise ConfigError(
            "replayed drafts change outputs, so they are for random weights only",
            where="drafts",
            hint="set weights to random, or choose other sources",
        )
    return ReplayedDraws(executor, _rates(rates[0]))


def _source(
    setting: DraftSetting,
    built: Built,
    config: EngineConfig,
    constraints: Constraints,
    tokenizer: Tokenizer,
    seconds: StepSeconds,
) -> DraftSource:
    if setting.name == "document":
        return DocumentSource()
    if setting.name == "rows":
        return RowsSource()
    if setting.name == "free":
        return FreeAnswerSource(constraints.ahead, built.spec.vocab_size)
    if setting.name == "likely":
        width = built.spec.vocab_size
        return LikelySource(constraints.ahead, tokenizer.vocabulary(width).tokens, width)
    if setting.name == "replay":
        return ReplaySource(_rates(setting.argument))
    model, tables = _draft_model(Path(setting.argument), config, built, tokenizer, seconds)
    return ModelSource(model, tables, constraints.ahead)


def _rates(text: str) -> tuple[float, ...]:
    try:
        return parse_rates(text)
    except ValueError as error:
        raise ConfigError(
            f"the rates {text!r} cannot be read: {error}",
            where="drafts",
            hint="rates from 0 to 1 by position, separated by slashes: replay:0.8/0.7/0.6",
        ) from None


def _draft_model(
    folder: Path, config: EngineConfig, target: Built, tokenizer: Tokenizer, seconds: StepSeconds
) -> tuple[DraftModel, DraftTables]:
    """The model of a folder, on a CPU like the other one, with a cache for a few sequences."""
    own = Tokenizer.load(folder)
    width = max(own.size, tokenizer.size)
    alike = own.vocabulary(width).fingerprint == tokenizer.vocabulary(width).fingerprint
    if not alike or read_spec(folder).vocab_size != target.spec.vocab_size:
        raise ConfigError(
            f"the draft model {folder} has another vocabulary than {config.model.model}",
            where="drafts",
            hint="a draft model has the tokens, the end tokens and the width of the model that it drafts for",
        )
    size = config.cache.block_size
    model = replace(config.model, model=str(folder), device="cpu", max_context=None, threads=None)
    scheduler = SchedulerConfig(
        max_running=MOST_DRAFTED, max_batched_tokens=config.scheduler.max_batched_tokens
    )
    built = build_runner(model, CacheConfig(block_size=size), scheduler, vocab=own.size)
    drafter = DraftModel(
        executor=built.runner,
        end_tokens=frozenset(own.end_ids),
        max_context=built.max_context,
        max_batched_tokens=scheduler.max_batched_tokens,
        width=built.spec.vocab_size,
        seconds=seconds,
    )
    return drafter, DraftTables(built.num_blocks, size, MOST_DRAFTED)
