"""The mixtures of experts of a model, read from its `config.json`.

Does: read which layers are mixtures, and their sizes. Does not: compute; see `mixture.py`.
"""

from dataclasses import dataclass

from intaglio.kernels.contracts import Activation, Gate, MixtureRule
from intaglio.kernels.expert_choice import GroupedChoice

from ..errors import ModelError
from .config_values import MOST_PARTS, ConfigValues
from .family import ExpertLayout

METHODS = (("greedy", "group_limited_greedy"), ("noaux_tc",))
"""The values of `topk_method`: for scores that are a softmax, for sigmoids."""

MOST_EXPERTS = 2**17
"""The largest number of experts in all layers."""


@dataclass(frozen=True, slots=True)
class ExpertSpec:
    """Experts of the layers that are mixtures.

    Each has `count` experts with hidden size `ffn`; a token chooses some of them by `rule`. `layers[i]`: whether layer
    `i` is a mixture. `shared` is the hidden size of an MLP that every token uses as well, 0 for none.
    """

    count: int
    ffn: int
    rule: MixtureRule
    layers: tuple[bool, ...]
    shared: int = 0


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
    ffn = config.count(layout.ffn)
    renormalised = rule if isinstance(rule, bool) else config.flag(rule, default=False)
    grouped, shared = None, 0
    if layout.scored is not None:
        grouped = _grouped(config, layout, count, per_token, renormalised=renormalised)
        shared = ffn * (config.optional_count("n_shared_experts") or 0)
    every = 1 if layout.every is None else config.count(layout.every, 1)
    dense = _layers(config, layout.dense, layers)
    return ExpertSpec(
        count=count,
        ffn=ffn,
        rule=MixtureRule(
            per_token,
            renormalised=renormalised,
            gate=Gate(activation),
            of_chosen=layout.clamped,
            clamp=(config.number("swiglu_alpha", 1.702), config.number("swiglu_limit", 7.0))
            if layout.clamped
            else None,
            grouped=grouped,
        ),
        layers=tuple((i + 1) % every == 0 and i not in dense for i in range(layers))
        if grouped is None
        else _after_dense(config, layers),
        shared=shared,
    )


def _after_dense(config: ConfigValues, layers: int) -> tuple[bool, ...]:
    """Which layers of a DeepSeek model are mixtures."""
    first, every = config.whole("first_k_dense_replace", 0), config.count("moe_layer_freq", 1)
    return tuple(i >= first and i % every == 0 for i in range(layers))


def _grouped(
    config: ConfigValues, layout: ExpertLayout, count: int, per_token: int, *, renormalised: bool
) -> GroupedChoice:
    """The choice of experts in a DeepSeek model."""
    sigmoid = layout.scored == "sigmoid"
    scale = config.number("routed_scaling_factor", 1.0)
    method = config.choice("topk_method", METHODS[sigmoid])
    if renormalised and not sigmoid and scale != 1:
        raise ModelError(
            f"norm_topk_prob with a routed_scaling_factor of {scale:g} is not supported",
            where="norm_topk_prob",
            hint="implementations of these models disagree on whether the factor then applies",
        )
    if method == "greedy":
        return GroupedChoice(sigmoid, 1, 1, 1, scale)
    groups, kept = config.count("n_group"), config.count("topk_group")
    size, summed = count // groups, 2 if sigmoid else 1
    if count % groups or (kept < groups and size < summed):
        raise ModelError(f"{count} experts cannot be ranked in {groups} groups", where="n_group")
    if kept > groups or kept * size < per_token:
        raise ModelError(
            f"{per_token} experts cannot be chosen from {kept} of {groups} groups of {size}",
            where="topk_group",
        )
    return GroupedChoice(sigmoid, groups, kept, summed, scale)


def _layers(config: ConfigValues, key: str | None, layers: int) -> set[int]:
    """The layers that the list under `key` names."""
    found = None if key is None else config.values.get(key)
    if found is None:
        return set()
    if not isinstance(found, list) or any(type(i) is not int or i < 0 for i in found):
        raise ModelError(f"{key} must be a list of layers, not {found!r}", where=str(key))
    return {i for i in found if i < layers}
