"""Starts the ranks that an engine's settings ask for.

Does: refuse settings and models that several ranks cannot serve, before a process is started. Does not: run the ranks
(`rank_group`).
"""

from pathlib import Path

from ..build_runner import device_named, model_dtype
from ..config import EngineConfig
from ..errors import ConfigError
from ..model.model_costs import ModelCosts
from ..model.sequence_weights import refuse_undivided_tokens
from ..model.sharded_weights import refuse_indivisible
from ..model.spec import read_spec
from ..model.staged_layers import refuse_unstageable
from .parallel_gain import CPUS, GPUS, refuse_slower
from .rank_group import RankGroup, rank_config


def start_ranks(config: EngineConfig) -> RankGroup | None:
    """The processes of all ranks but this one, not connected yet; None for an engine in one process.

    Raises:
        ConfigError: the model cannot be divided so, would be slower, or a setting needs one process.
        ModelError: the checkpoint cannot be used.
    """
    parallel = config.parallel
    if parallel.ranks == 1:
        return None
    _refuse_tiers(config)
    spec, tp = read_spec(Path(config.model.model)), parallel.tp
    device = device_named(config.model.device)
    if parallel.pp > 1:
        refuse_unstageable(spec, parallel.pp)
        _refuse_with_stages(config)
    if tp > 1:
        refuse_indivisible(spec, tp)
    if parallel.sp:
        refuse_undivided_tokens(spec)
    if tp > 1 and not parallel.tp_any_size:
        element = model_dtype(config.model.dtype, spec, device).itemsize
        weight_bytes = ModelCosts.of(spec, element).weight_bytes
        refuse_slower(weight_bytes, spec.layers, tp, GPUS if device.type == "cuda" else CPUS)
    return RankGroup.start(rank_config(config))


def _refuse_tiers(config: EngineConfig) -> None:
    """Raise `ConfigError` for tiers of the KV cache, which hold the blocks of one process."""
    if config.cache.has_tiers:
        tier = config.cache.first_tier
        raise ConfigError(
            "blocks leave the cache of engines in one process only",
            where=tier,
            hint=f"leave out {tier}, or set tp and pp to 1",
        )


def _refuse_with_stages(config: EngineConfig) -> None:
    """Raise `ConfigError` for settings that stages cannot serve."""
    refused = [
        (
            bool(config.drafting.sources),
            "drafts are verified by engines without stages only",
            ("drafts", "set drafts to auto or off, or pp to 1"),
        ),
        (
            config.scheduler.overlap == "on",
            "stages have steps in flight already",
            ("overlap", "leave overlap at auto; pp_batches is the number of steps in flight"),
        ),
    ]
    for applies, reason, (where, hint) in refused:
        if applies:
            raise ConfigError(reason, where=where, hint=hint)
