"""Small checkpoints of models that read images, and prompts with random images for them."""

import io
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from intaglio.engine.types import PromptImage
from PIL import Image
from torch import Tensor

from tests.support.tiny_checkpoint import (
    BYTES,
    QWEN2,
    QWEN3,
    SPECIALS,
    byte_tokenizer,
    random_weights,
    write_checkpoint,
)

MARKS = ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>")
START, PAD, END = range(BYTES + len(SPECIALS), BYTES + len(SPECIALS) + 3)
FACTOR = 28

# A schema whose answer differs from image to image, and drawings for the pages of PDFs.
WORD: dict[str, Any] = {
    "type": "object",
    "properties": {"word": {"type": "string", "pattern": "^[a-z]{12}$"}},
    "required": ["word"],
    "additionalProperties": False,
}
RED = b"1 0 0 rg 30 40 200 100 re f"
BLUE = b"0 0 1 rg 100 100 250 180 re f"
TEXT = b"BT /F1 12 Tf 40 200 Td (A page with a text layer) Tj ET"

QWEN25_VL: dict[str, Any] = {
    **{key: value for key, value in QWEN2.items() if key != "rope_theta"},
    "architectures": ["Qwen2_5_VLForConditionalGeneration"],
    "model_type": "qwen2_5_vl",
    "rope_theta": 10000.0,
    "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
    "tie_word_embeddings": False,
    "image_token_id": PAD,
    "video_token_id": PAD + 10,
    "vision_start_token_id": START,
    "vision_end_token_id": END,
    "vision_config": {
        "model_type": "qwen2_5_vl",
        "depth": 3,
        "hidden_act": "silu",
        "hidden_size": 32,
        "intermediate_size": 44,
        "num_heads": 2,
        "in_chans": 3,
        "out_hidden_size": 64,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "spatial_patch_size": 14,
        "window_size": 112,
        "fullatt_block_indexes": [1],
        "temporal_patch_size": 2,
        "tokens_per_second": 2,
    },
}
"""As published: the keys of the language half at the top."""

_OUTER = ("architectures", "model_type", "tie_word_embeddings")
QWEN3_VL: dict[str, Any] = {
    "architectures": ["Qwen3VLForConditionalGeneration"],
    "model_type": "qwen3_vl",
    "tie_word_embeddings": False,
    "image_token_id": PAD,
    "video_token_id": PAD + 10,
    "vision_start_token_id": START,
    "vision_end_token_id": END,
    "text_config": {
        **{key: value for key, value in QWEN3.items() if key not in _OUTER},
        "model_type": "qwen3_vl_text",
        "num_hidden_layers": 4,
        "rope_theta": 10000.0,
        "rope_scaling": {
            "rope_type": "default",
            "mrope_interleaved": True,
            "mrope_section": [6, 5, 5],
        },
    },
    "vision_config": {
        "model_type": "qwen3_vl",
        "depth": 4,
        "hidden_act": "gelu_pytorch_tanh",
        "hidden_size": 32,
        "intermediate_size": 44,
        "num_heads": 2,
        "in_channels": 3,
        "out_hidden_size": 64,
        "patch_size": 16,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "num_position_embeddings": 49,
        "deepstack_visual_indexes": [0, 1, 2],
    },
}
"""As published: the keys of the language half in `text_config`, and names as in `PUBLISHED_NAMES`."""

QWEN3_VL_MOE: dict[str, Any] = {
    **QWEN3_VL,
    "architectures": ["Qwen3VLMoeForConditionalGeneration"],
    "model_type": "qwen3_vl_moe",
    "text_config": {
        **QWEN3_VL["text_config"],
        "model_type": "qwen3_vl_moe_text",
        "num_experts": 6,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 48,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [1],
    },
    "vision_config": {**QWEN3_VL["vision_config"], "model_type": "qwen3_vl_moe"},
}

PUBLISHED_NAMES = {"model.": "model.language_model.", "visual.": "model.visual."}

CONFIGS = {"qwen2.5-vl": QWEN25_VL, "qwen3-vl": QWEN3_VL, "qwen3-vl-moe": QWEN3_VL_MOE}
FACTORS = {
    "Qwen2_5_VLForConditionalGeneration": 28,
    "Qwen3VLForConditionalGeneration": 32,
    "Qwen3VLMoeForConditionalGeneration": 32,
}
"""Pixels on a side of a cell."""

TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: "
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}"
    "{% if part.type == 'image' or part.type == 'image_url' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def write_vision_checkpoint(
    folder: Path, config: dict[str, Any] = QWEN25_VL, seed: int = 0
) -> Path:
    """A whole model folder, with a tokenizer that has the marks of images."""
    write_checkpoint(folder, config, weights=as_published(config, random_weights(config, seed)))
    source = byte_tokenizer()
    like = source["added_tokens"][0]
    source["added_tokens"] += [
        {**like, "id": START + index, "content": mark} for index, mark in enumerate(MARKS)
    ]
    (folder / "tokenizer.json").write_text(json.dumps(source))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "preprocessor_config.json").write_text(
        json.dumps(_processor(FACTORS[config["architectures"][0]], config["vision_config"]))
    )
    return folder


def as_published(config: dict[str, Any], weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same tensors by the names that checkpoints with such a file have."""
    if "text_config" not in config:
        return weights
    halves = {name: name.partition(".")[0] + "." for name in weights}
    return {
        PUBLISHED_NAMES.get(half, half) + name.removeprefix(half): weights[name]
        for name, half in halves.items()
    }


def _processor(factor: int, vision: dict[str, Any]) -> dict[str, Any]:
    """The file of the processor, as published with each family."""
    if factor == FACTOR:
        return {"min_pixels": 56 * 56, "max_pixels": 28 * 28 * 64}
    return {
        "size": {"shortest_edge": 4 * factor**2, "longest_edge": 64 * factor**2},
        "patch_size": vision["patch_size"],
        "temporal_patch_size": vision["temporal_patch_size"],
        "merge_size": vision["spatial_merge_size"],
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }


def prompt_with_images(
    parts: Sequence[int | tuple[int, int]], seed: int = 1, factor: int = FACTOR
) -> tuple[tuple[int, ...], tuple[PromptImage, ...]]:
    """A prompt of random text of these lengths, and of random images of these rows and columns."""
    dice, colours = random.Random(seed), np.random.default_rng(seed)
    tokens: list[int] = []
    images = []
    for part in parts:
        if isinstance(part, int):
            tokens += [dice.randrange(BYTES) for _ in range(part)]
            continue
        rows, columns = part
        pixels = colours.integers(0, 256, (rows * factor, columns * factor, 3), np.uint8)
        images.append(PromptImage.of(len(tokens) + 1, rows, columns, pixels.tobytes()))
        tokens += [START, *[PAD] * (rows * columns), END]
    return tuple(tokens), tuple(images)


def picture(seed: int = 0, size: tuple[int, int] = (84, 56), form: str = "PNG") -> bytes:
    """A file of an image of random colours."""
    colours = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    written = io.BytesIO()
    Image.fromarray(colours).save(written, form)
    return written.getvalue()
