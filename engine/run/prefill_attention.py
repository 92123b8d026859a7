"""Which back end computes the attention of prompts.

Does: refuse a back end where it cannot work, and say what to change; make it ready. Does not: fall back to another.
"""

from importlib.util import find_spec

import torch
from intaglio.kernels.contracts import PLAIN_SCALING, Attend

from ..config import CacheConfig, ModelConfig
from ..errors import ConfigError
from ..model.spec import ModelSpec

MOST_SHOWN = 600
"""Characters told of why a compiler failed: its last words."""


def attention_of_prompts(
    model: ModelConfig,
    cache: CacheConfig,
    spec: ModelSpec,
    dtype: torch.dtype,
    device: torch.device,
) -> Attend | None:
    """What prepares the attention of steps with prompts; None: the kernels of the device themselves.

    Raises:
        ConfigError: the back end that is asked for is not installed, or not for this device, model or cache.
    """
    if model.attention == "auto":
        return None
    if device.type != "cuda":
        raise _refused(f"attention {model.attention!r} needs a GPU, the device is {device.type}")
    if model.attention == "triton":
        return None
    # Not loaded where there is no GPU.
    from intaglio.kernels.attention.flashinfer import DTYPES, HEAD_SIZES, FlashInfer

    if spec.scores != PLAIN_SCALING:
        raise _refused(
            f"FlashInfer is not for {spec.family.name} models, whose attention scores are scaled or soft-capped"
        )
    if spec.head_dim not in HEAD_SIZES:
        sizes = ", ".join(map(str, HEAD_SIZES))
        raise _refused(f"FlashInfer is for heads of {sizes}, the model's have {spec.head_dim}")
    if dtype not in DTYPES:
        raise _refused(f"FlashInfer is for float16 and bfloat16, dtype is {_name(dtype)}")
    if cache.kv_dtype != "auto":
        raise _refused(f"FlashInfer reads keys and values in {_name(dtype)}, not {cache.kv_dtype}")
    if find_spec("flashinfer") is None:
        raise _refused("FlashInfer is not installed", "pip install 'intaglio[server,flashinfer]'")
    try:
        return FlashInfer(device, dtype, spec.heads, spec.kv_heads, spec.head_dim).attend
    except (ImportError, RuntimeError, OSError) as error:
        why = str(error)[-MOST_SHOWN:]
        hint = "it compiles its kernels with nvcc and ninja"
        raise _refused(f"FlashInfer cannot be made ready: {why}", hint) from error


def _refused(message: str, hint: str | None = None) -> ConfigError:
    instead = "leave attention at auto"
    return ConfigError(
        message, where="attention", hint=instead if hint is None else f"{hint}, or {instead}"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
