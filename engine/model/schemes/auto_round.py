"""Checkpoints of AutoRound, which are packed like those of GPTQ or of AWQ.

Does: choose the scheme of each matrix from `quantization_config`. Does not: decode (`gptq`, `awq`). The method is that
of Cheng et al., "Optimize Weight Rounding via Signed Gradient Descent for the Quantization of LLMs" (2023).
"""

from dataclasses import dataclass

from .awq import Awq
from .gptq import Gptq
from .quantization_settings import Settings, is_named
from .scheme import Dense, Scheme, Schemes

GPTQ_LIKE = ("auto_round:auto_gptq", "auto_gptq", "auto_round:gptq")
GPTQ_V2_LIKE = ("auto_round:gptqmodel", "auto_round")
AWQ_LIKE = ("auto_round:auto_awq", "auto_awq", "auto_round:awq")
UNQUANTISED_BITS = 16


@dataclass(frozen=True, slots=True)
class AutoRound:
    """A scheme for all matrices, with exceptions by the names of modules. See `Schemes`."""

    scheme: Scheme
    exceptions: tuple[tuple[str, Scheme], ...]

    def of(self, name: str) -> Scheme:
        """See `Schemes`."""
        for pattern, scheme in self.exceptions:
            if is_named(name, (pattern,)):
                return scheme
        return self.scheme


def auto_round_schemes(settings: Settings) -> Schemes:
    """The schemes of a checkpoint with `quant_method` "auto-round" or "intel/auto-round"."""
    packing = settings.choice(
        "packing_format", (*GPTQ_LIKE, *GPTQ_V2_LIKE, *AWQ_LIKE), "auto_round:auto_gptq"
    )
    settings.choice("data_type", ("int",), "int")
    extra = settings.inner("extra_config")
    exceptions = []
    for name in extra.values if extra is not None else ():
        own = extra.inner(name) if extra is not None else None
        if own is not None:
            merged = Settings({**settings.values, **own.values}, own.where)
            exceptions.append((name, _scheme(packing, merged)))
    return AutoRound(_scheme(packing, settings), tuple(exceptions))


def _scheme(packing: str, settings: Settings) -> Scheme:
    if settings.values.get("bits") == UNQUANTISED_BITS:
        return Dense()
    size = settings.group_size()
    if packing in AWQ_LIKE:
        settings.count("bits", (4,))
        return Awq(size)
    return Gptq(settings.count("bits", (2, 3, 4, 8)), size, 1 if packing in GPTQ_LIKE else 0)
