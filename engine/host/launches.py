"""The commands that start the engines of one machine.

Does: give each engine its share of the machine: one GPU, or of the processor cores an equal part. Does not: start them
(`engine/host/supervision.py`).
"""

from dataclasses import replace

from ..config import EngineConfig, processor_cores, visible_gpus
from ..errors import ConfigError
from .supervisor import Launch


def launches(config: EngineConfig, count: int = 1) -> tuple[Launch, ...]:
    """The launches of so many engines of equal settings. One engine has the whole machine.

    Raises:
        ConfigError: there are GPUs, but not one for each engine.
    """
    if count == 1:
        return (Launch.of(config),)
    gpus = visible_gpus() if config.model.device != "cpu" else ()
    if not gpus:
        threads = config.model.threads or max(1, processor_cores() // count)
        shared = replace(config, model=replace(config.model, threads=threads))
        return (Launch.of(shared),) * count
    if len(gpus) < count:
        raise ConfigError(
            f"{count} engines need as many GPUs, and there are {len(gpus)}",
            where="engines",
            hint=f"start at most {len(gpus)} engines, or set device to cpu",
        )
    return tuple(
        replace(Launch.of(config), environment=(("CUDA_VISIBLE_DEVICES", gpu),))
        for gpu in gpus[:count]
    )
