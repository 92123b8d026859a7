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

from tests.support.tiny_checkpoint import BYTES, QWEN2, SPECIALS, byte_tokenizer, write_checkpoint

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
    write_checkpoint(folder, config, seed=seed)
    source = byte_tokenizer()
    like = source["added_tokens"][0]
    source["added_tokens"] += [
        {**like, "id": START + index, "content": mark} for index, mark in enumerate(MARKS)
    ]
    (folder / "tokenizer.json").write_text(json.dumps(source))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "preprocessor_config.json").write_text(
        json.dumps({"min_pixels": 56 * 56, "max_pixels": 28 * 28 * 64})
    )
    return folder


def prompt_with_images(
    parts: Sequence[int | tuple[int, int]], seed: int = 1
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
        pixels = colours.integers(0, 256, (rows * FACTOR, columns * FACTOR, 3), np.uint8)
        images.append(PromptImage.of(len(tokens) + 1, rows, columns, pixels.tobytes()))
        tokens += [START, *[PAD] * (rows * columns), END]
    return tuple(tokens), tuple(images)


def picture(seed: int = 0, size: tuple[int, int] = (84, 56), form: str = "PNG") -> bytes:
    """A file of an image of random colours."""
    colours = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    written = io.BytesIO()
    Image.fromarray(colours).save(written, form)
    return written.getvalue()
