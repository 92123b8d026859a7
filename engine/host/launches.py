"""The commands that start the engines of one machine.

Does: give each engine its share of the machine: a GPU for each of its ranks, or of the processor cores an equal part.
An engine for outputs also sees the GPUs of those that compute prompts, behind its own. Does not: start them
(`engine/host/supervision.py`).
"""

from dataclasses import replace

from ..config import EngineConfig, processor_cores, visible_gpus
from ..errors import ConfigError
from ..types import KVRole
from .supervisor import Launch


def launches(config: EngineConfig, count: int = 1, prefill: int = 0) -> tuple[Launch, ...]:
    """The launches of several engines with equal settings; the first `prefill` of them compute prompts for the others.

    One engine has the whole machine.

    Raises:
        ConfigError: there are GPUs, but not one for each rank of each engine; or no engine is left for outputs; or
            prompts cannot be exchanged with other servers.
    """
    config.peers.check(ranks=config.parallel.ranks, prefill=prefill)
    if count == 1 and not prefill:
        return (Launch.of(config),)
    gpus = visible_gpus() if config.model.device != "cpu" else ()
    ranks = config.parallel.ranks
    if not gpus:
        threads = config.model.threads or max(1, processor_cores() // (count * ranks))
        config = replace(config, model=replace(config.model, threads=threads))
    elif len(gpus) < count * ranks:
        raise ConfigError(
            f"{count} engines need {ranks} GPUs each, and there are {len(gpus)}",
            where="engines",
            hint=f"start at most {len(gpus) // ranks} engines, or set device to cpu",
        )
    shares = [gpus[number * ranks : (number + 1) * ranks] for number in range(count)]
    for number in range(prefill, count if prefill else 0):
        # An engine for outputs asks the driver whether its GPU, the first, can read those that compute prompts.
        shares[number] += gpus[: prefill * ranks]
    return tuple(
        replace(Launch.of(one), environment=_visible(share))
        for one, share in zip(_with_roles(config, count, prefill), shares, strict=True)
    )


def _visible(share: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """The environment of an engine with these GPUs; empty for none."""
    return (("CUDA_VISIBLE_DEVICES", ",".join(share)),) if share else ()


def _with_roles(config: EngineConfig, count: int, prefill: int) -> list[EngineConfig]:
    """The settings of each engine."""
    if not prefill:
        return [replace(config, peers=config.peers.numbered(number)) for number in range(count)]
    if prefill >= count:
        raise ConfigError(
            f"{prefill} engines for prompts leave no engine for outputs, of {count}",
            where="prefill_engines",
            hint=f"--engines {prefill + 1} or more",
        )
    roles: list[KVRole] = ["prefill"] * prefill
    roles += ["decode"] * (count - prefill)
    return [replace(config, cache=replace(config.cache, kv_role=role)) for role in roles]
