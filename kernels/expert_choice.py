"""How the mixtures of DeepSeek models choose experts, as data.

Does: define it. Does not: choose (`experts.reference_experts`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupedChoice:
    """The choice of experts by groups (DeepSeek-AI 2024, DeepSeek-V2 and -V3).

    The scores of experts are the sigmoids of their logits with `sigmoid`, else their softmax, in float32. For the
    choice alone, a layer's correction is added to them, if it has one. Experts form `groups` of equal size, in order;
    only those of the `kept` groups with the highest sums of their `summed` highest scores are chosen from. The shares
    of the chosen are their uncorrected scores, divided by their sum if renormalised, times `scale`.
    """

    sigmoid: bool
    groups: int
    kept: int
    summed: int
    scale: float
