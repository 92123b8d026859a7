"""The quantisation of a published checkpoint, from `quantization_config` in its config.json.

Does: find the format, and refuse all others by name. Does not: read tensors.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import ModelError
from .auto_round import auto_round_schemes
from .awq import awq_schemes
from .compressed_tensors import compressed_tensors_schemes
from .fp8 import fp8_schemes
from .gptq import gptq_schemes
from .mxfp4 import Mxfp4Experts, mxfp4_schemes
from .quantization_settings import ROOT, Settings
from .scheme import Schemes, Uniform

METHODS: Mapping[str, Callable[[Settings], Schemes]] = {
    "compressed-tensors": compressed_tensors_schemes,
    "gptq": gptq_schemes,
    "awq": awq_schemes,
    "auto-round": auto_round_schemes,
    "intel/auto-round": auto_round_schemes,
    "fp8": fp8_schemes,
    "mxfp4": mxfp4_schemes,
}


def published_schemes(raw: Any, *, stacked: bool = False, mxfp4: bool = False) -> Schemes:
    """The schemes that `quantization_config` describes; unquantised weights if it is None.

    `stacked`: the model has stacked experts, which are quantised in MXFP4, if the family has them so (`mxfp4`), or not
    at all.

    Raises:
        ModelError: the format is not supported, or the description is wrong; `where` names the key.
    """
    if raw is None:
        return Uniform()
    if not isinstance(raw, dict):
        raise ModelError(f"{ROOT} must be an object, not {raw!r}", where=ROOT)
    method = raw.get("quant_method")
    read = METHODS.get(str(method).lower())
    if read is None:
        named = repr(method) if method else "a format without a quant_method"
        raise ModelError(
            f"the weights are quantised in {named}, which Intaglio does not load",
            where=f"{ROOT}/quant_method",
            hint=f"supported are {', '.join(METHODS)}; fetch such a checkpoint of the model, or the original one and "
            "quantise it: intaglio quantize CHECKPOINT --to int8",
        )
    schemes = read(Settings(raw))
    if isinstance(schemes, Mxfp4Experts) != mxfp4 or stacked != mxfp4:
        raise ModelError(
            f"weights in {method} are not supported for this architecture",
            where=f"{ROOT}/quant_method",
            hint="MXFP4 is read for the experts of gpt-oss, and gpt-oss in no other quantised format; Qwen3-VL with a "
            "mixture of experts is read unquantised",
        )
    return schemes
