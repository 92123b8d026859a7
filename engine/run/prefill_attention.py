"""The back end for the attention of prompts.

Does: refuse a back end that cannot work here, with a hint; initialise it. Does not: fall back to another one.
"""

from importlib.util import find_spec

import torch
from intaglio.kernels.contracts import PLAIN_SCALING, Attend

from ..config import CacheConfig, ModelConfig
from ..errors import ConfigError
from ..model.spec import ModelSpec

MOST_SHOWN = 600
"""The most characters shown of a compiler's error, from its end."""


def attention_of_prompts(
    model: ModelConfig,
    cache: CacheConfig,
    spec: ModelSpec,
    dtype: torch.dtype,
    device: torch.device,
) -> Attend | None:
    """The function that prepares attention in steps with prompts; None for the device's own kernels.

    Raises:
        ConfigError: the configured back end is not installed, or does not support this device, model or cache.
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
            f"FlashInfer does not support {spec.family.name} models, which scale or soft-cap attention scores"
        )
    if spec.family.sinks:
        raise _refused(f"FlashInfer does not support {spec.family.name} models, which have sinks")
    if spec.window is not None or any(kind != spec.kinds[0] for kind in spec.kinds):
        raise _refused(
            f"FlashInfer does not support {spec.family.name} models with sliding windows, or with layers that differ "
            "in rotation"
        )
    if spec.head_dim not in HEAD_SIZES:
        sizes = ", ".join(map(str, HEAD_SIZES))
        raise _refused(f"FlashInfer supports heads of {sizes}, the model's have {spec.head_dim}")
    if dtype not in DTYPES:
        raise _refused(f"FlashInfer supports float16 and bfloat16, dtype is {_name(dtype)}")
    if cache.kv_dtype != "auto":
        raise _refused(f"FlashInfer reads keys and values in {_name(dtype)}, not {cache.kv_dtype}")
    if find_spec("flashinfer") is None:
        raise _refused("FlashInfer is not installed", "pip install 'intaglio[server,flashinfer]'")
    try:
        return FlashInfer(device, dtype, spec.heads, spec.kv_heads, spec.head_dim).attend
    except (ImportError, RuntimeError, OSError) as error:
        why = str(error)[-MOST_SHOWN:]
        hint = "it compiles its kernels with nvcc and ninja"
        raise _refused(f"FlashInfer cannot be initialised: {why}", hint) from error


def _refused(message: str, hint: str | None = None) -> ConfigError:
    instead = "leave attention at auto"
    return ConfigError(
        message, where="attention", hint=instead if hint is None else f"{hint}, or {instead}"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
