"""Builds the drafts of an engine from its settings.

Does: choose and construct the sources of drafts, and load a draft model. Does not: draft.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..build_runner import Built, build_runner
from ..config import CacheConfig, EngineConfig, SchedulerConfig
from ..draft_config import DraftConfig, DraftSetting
from ..drafts.document import DocumentSource
from ..drafts.draft_tables import DraftTables
from ..drafts.earlier_answers import RowsSource
from ..drafts.free_answer import FreeAnswerSource
from ..drafts.lengths import DraftLengths
from ..drafts.likely import LikelySource
from ..drafts.model import DraftModel, ModelSource
from ..drafts.proposals import Proposals
from ..drafts.replayed_draws import ReplayedDraws, ReplaySource, parse_rates
from ..drafts.source import DraftSource
from ..drafts.step_seconds import StepSeconds
from ..errors import ConfigError
from ..executor import Executor
from ..grammars.constraints import Constraints
from ..model.spec import read_spec
from ..text.tokenizer import Tokenizer

AUTO = (DraftSetting("document", ""), DraftSetting("rows", ""), DraftSetting("free", ""))
"""The sources of the setting "auto" on a CPU."""

MOST_DRAFTED = 8
"""Sequences with keys and values in the cache of a draft model."""


class Drafting(NamedTuple):
    """The proposals of an engine, and the step costs on which they depend and which its pipeline measures."""

    proposals: Proposals
    seconds: StepSeconds


def draft_settings(config: DraftConfig, *, ahead: bool) -> tuple[DraftSetting, ...]:
    """The sources of drafts; none where the engine runs one step ahead, which cannot draft.

    Raises:
        ConfigError: the setting asks for some there.
    """
    sources = config.sources
    if ahead and sources:
        raise ConfigError(
            f"drafts {config.drafts!r} need a model on a CPU, with overlap off",
            where="drafts",
            hint="set drafts to auto or off, or device to cpu and overlap to auto",
        )
    if sources is None:
        return () if ahead else AUTO
    return sources


def build_drafts(
    settings: tuple[DraftSetting, ...],
    built: Built,
    config: EngineConfig,
    constraints: Constraints,
    tokenizer: Tokenizer,
) -> Drafting:
    """The drafts of an engine with these sources, in this order, and the step costs that its pipeline measures.

    Raises:
        ConfigError: a draft model does not fit.
        ModelError: a draft model cannot be used.
    """
    seconds = StepSeconds()
    sources = [_source(each, built, config, constraints, tokenizer, seconds) for each in settings]
    return Drafting(Proposals(sources, DraftLengths(seconds), constraints), seconds)


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
