"""The mixtures of experts of a model, read from its `config.json`.

Does: read which layers are mixtures, and their sizes. Does not: compute; see `mixture.py`.
"""

from dataclasses import dataclass

from intaglio.kernels.contracts import Activation, Gate, MixtureRule

from ..errors import ModelError
from .config_values import MOST_PARTS, ConfigValues
from .family import ExpertLayout

MOST_EXPERTS = 2**17
"""The largest number of experts in all layers."""


@dataclass(frozen=True, slots=True)
class ExpertSpec:
    """Experts of the layers that are mixtures.

    Each has `count` experts with hidden size `ffn`; a token chooses some of them by `rule`. `layers[i]`: whether layer
    `i` is a mixture.
    """

    count: int
    ffn: int
    rule: MixtureRule
    layers: tuple[bool, ...]


def read_experts(
    layout: ExpertLayout, config: ConfigValues, layers: int, activation: Activation
) -> ExpertSpec:
    """The experts of a model with this number of layers and this activation of MLPs. Raises `ModelError`."""
    count = config.count(layout.count, most=MOST_PARTS)
    if count * layers > MOST_EXPERTS:
        raise ModelError(f"{layers} layers of {count} experts are too many", where=layout.count)
    per_token = config.count("num_experts_per_tok")
    if per_token > count:
        raise ModelError(
            f"a token cannot use {per_token} of {count} experts", where="num_experts_per_tok"
        )
    rule = layout.renormalised
    every = 1 if layout.every is None else config.count(layout.every, 1)
    dense = _layers(config, layout.dense, layers)
    return ExpertSpec(
        count=count,
        ffn=config.count(layout.ffn),
        rule=MixtureRule(
            per_token,
            renormalised=rule if isinstance(rule, bool) else config.flag(rule, default=False),
            gate=Gate(activation),
            of_chosen=layout.stacked,
            clamp=(config.number("swiglu_alpha", 1.702), config.number("swiglu_limit", 7.0))
            if layout.stacked
            else None,
        ),
        layers=tuple((i + 1) % every == 0 and i not in dense for i in range(layers)),
    )


def _layers(config: ConfigValues, key: str | None, layers: int) -> set[int]:
    """The layers that the list under `key` names."""
    found = None if key is None else config.values.get(key)
    if found is None:
        return set()
    if not isinstance(found, list) or any(type(i) is not int or i < 0 for i in found):
        raise ModelError(f"{key} must be a list of layers, not {found!r}", where=str(key))
    return {i for i in found if i < layers}
