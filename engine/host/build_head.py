"""Finds and builds the draft head of an engine.

Does: choose the head that the settings name or that a checkpoint brings, and refuse engines that cannot have one. Does
not: read a head's files (`model/head_files.py`), or draft.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..build_runner import Built, device_named
from ..config import CacheConfig, EngineConfig
from ..draft_config import DraftSetting
from ..drafts.draft_tables import DraftTables
from ..drafts.head import HeadModel, HeadSource
from ..drafts.source import DraftSource
from ..drafts.step_seconds import StepSeconds
from ..errors import ConfigError
from ..executor import Executor
from ..grammars.constraints import Constraints
from ..model.head_files import load_head
from ..model.head_spec import HeadSpec, is_head, read_head_spec
from ..model.spec import ModelSpec, read_spec
from ..run.head_executor import head_executor
from ..run.kept_streams import KeptStreams
from ..run.runner import RunnerLimits
from ..text.tokenizer import Tokenizer

MOST_HEADED: Final = 8
"""Sequences with streams, and with keys and values in the cache of a head."""


@dataclass(frozen=True, slots=True)
class ChosenHead:
    """A draft head, before its weights are read."""

    folder: Path
    spec: HeadSpec

    @property
    def setting(self) -> DraftSetting:
        """The source of drafts that it is."""
        return DraftSetting("head", str(self.folder))


def chosen_head(config: EngineConfig, *, ahead: bool) -> ChosenHead | None:
    """The head that the drafts of an engine need: the one they name, or with "auto" the one in the checkpoint's folder.

    `ahead`: whether steps are computed one ahead.

    Raises:
        ConfigError: the settings name a head, and there is none, or this engine cannot have it.
        ModelError: the head does not fit the model, or its files cannot be used.
    """
    sources = config.drafting.sources
    named = [source for source in sources or () if source.name == "head"]
    if sources is not None and not named:
        return None
    model = Path(config.model.model)
    target = read_spec(model)
    reason = _obstacle(config, target, ahead=ahead)
    if reason is not None:
        if not named:
            return None
        raise ConfigError(
            f"drafts {config.drafting.drafts!r}: {reason[0]}", where="drafts", hint=reason[1]
        )
    if named and named[0].argument:
        folder = Path(named[0].argument)
    else:
        found = heads_in(model)
        if not named and len(found) != 1:
            return None
        if len(found) != 1:
            raise ConfigError(
                f"drafts {config.drafting.drafts!r}: {model} has {len(found)} folders with a draft head",
                where="drafts",
                hint="name one: head:FOLDER",
            )
        folder = found[0]
    return ChosenHead(folder, read_head_spec(folder, target))


def heads_in(folder: Path) -> list[Path]:
    """The folders in that of a checkpoint that have the `config.json` of a draft head."""
    return [each for each in sorted(folder.iterdir()) if each.is_dir() and is_head(each)]


def _obstacle(config: EngineConfig, target: ModelSpec, *, ahead: bool) -> tuple[str, str] | None:
    """Why an engine cannot have a draft head, and what to do; None if it can."""
    if config.parallel.tp > 1 or config.parallel.pp > 1:
        return "a draft head needs a model in one process", "set tp and pp to 1, or name others"
    if ahead or device_named(config.model.device).type != "cpu":
        return (
            "a draft head needs a model on a CPU, with overlap off",
            "name other sources, or set device to cpu and overlap to auto",
        )
    if target.vision is not None:
        return "a draft head does not support a model that reads images", "name other sources"
    return None


def head_maker(
    chosen: ChosenHead | None,
    built: Built,
    executor: Executor[Any],
    config: EngineConfig,
    constraints: Constraints,
    tokenizer: Tokenizer,
) -> Callable[[StepSeconds], DraftSource] | None:
    """Makes the source of drafts by a head from the costs of steps; None without a head."""
    if chosen is None or not isinstance(executor, KeptStreams):
        return None
    return partial(build_head, chosen, built, executor, config, constraints, tokenizer)


def build_head(
    chosen: ChosenHead,
    built: Built,
    kept: KeptStreams,
    config: EngineConfig,
    constraints: Constraints,
    tokenizer: Tokenizer,
    seconds: StepSeconds,
) -> HeadSource:
    """The source of drafts by a head of the model `built`. Raises `ModelError` if its files do not fit."""
    target = built.runner.decoder
    head = load_head(chosen.folder, chosen.spec, target, built.max_context)
    size, most = config.cache.block_size, config.scheduler.max_batched_tokens
    limits = RunnerLimits(
        max_batched_tokens=most,
        max_running=MOST_HEADED,
        max_context=built.max_context,
        vocab=built.runner.limits.vocab,
    )
    executor = head_executor(head, kept, CacheConfig(block_size=size), limits)
    model = HeadModel(
        executor=executor,
        end_tokens=frozenset(tokenizer.end_ids),
        max_context=built.max_context,
        max_batched_tokens=most,
        block_size=size,
        width=built.spec.vocab_size,
        seconds=seconds,
    )
    return HeadSource(model, DraftTables(executor.num_blocks, size, MOST_HEADED), constraints.ahead)
