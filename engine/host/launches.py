"""The commands that start the engines of one machine.

Does: give each engine its share of the machine: a GPU for each of its ranks, or of the processor cores an equal part.
Does not: start them (`engine/host/supervision.py`).
"""

from dataclasses import replace

from ..config import EngineConfig, processor_cores, visible_gpus
from ..errors import ConfigError
from .supervisor import Launch


def launches(config: EngineConfig, count: int = 1) -> tuple[Launch, ...]:
    """The launches of several engines with equal settings. One engine has the whole machine.

    Raises:
        ConfigError: there are GPUs, but not one for each rank of each engine.
    """
    if count == 1:
        return (Launch.of(config),)
    gpus = visible_gpus() if config.model.device != "cpu" else ()
    tp = config.parallel.tp
    if not gpus:
        threads = config.model.threads or max(1, processor_cores() // (count * tp))
        shared = replace(config, model=replace(config.model, threads=threads))
        return (Launch.of(shared),) * count
    if len(gpus) < count * tp:
        raise ConfigError(
            f"{count} engines need {tp} GPUs each, and there are {len(gpus)}",
            where="engines",
            hint=f"start at most {len(gpus) // tp} engines, or set device to cpu",
        )
    shares = [",".join(gpus[number * tp : (number + 1) * tp]) for number in range(count)]
    return tuple(
        replace(Launch.of(config), environment=(("CUDA_VISIBLE_DEVICES", share),))
        for share in shares
    )
