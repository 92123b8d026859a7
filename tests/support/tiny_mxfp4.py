"""A small gpt-oss with experts in MXFP4, and the same one unquantised."""

from pathlib import Path
from typing import Any

import torch
from intaglio.kernels.mxfp4_weight import decoded

from tests.support.drawn_codes import mxfp4
from tests.support.tiny_checkpoint import random_weights, write_checkpoint
from tests.support.tiny_families import GPT_OSS

PLAIN_GPT_OSS: dict[str, Any] = {**GPT_OSS, "num_hidden_layers": 2}
CODED_GPT_OSS: dict[str, Any] = {
    **PLAIN_GPT_OSS,
    "quantization_config": {
        "quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router"],
    },
}


def write_coded_gpt_oss(coded: Path, plain: Path, **sizes: int) -> tuple[Path, Path]:
    """Write both checkpoints into these folders, and return them. `sizes` replace those of the configuration."""
    weights, codes = random_weights(PLAIN_GPT_OSS | sizes), {}
    for number, (name, tensor) in enumerate(random_weights(PLAIN_GPT_OSS | sizes).items()):
        if not name.endswith(("gate_up_proj", "down_proj")):
            codes[name] = tensor
            continue
        count, inputs, outputs = tensor.shape
        blocks, scales = mxfp4(count * outputs, inputs, number, scales=(122, 124))
        codes[name + "_blocks"] = blocks.view(count, outputs, inputs // 32, 16)
        codes[name + "_scales"] = scales.view(count, outputs, inputs // 32)
        matrices = decoded(blocks, scales, torch.float32).view(count, outputs, inputs)
        weights[name] = matrices.transpose(1, 2).contiguous()
    write_checkpoint(plain, PLAIN_GPT_OSS | sizes, weights=weights)
    write_checkpoint(coded, CODED_GPT_OSS | sizes, weights=codes)
    return coded, plain
