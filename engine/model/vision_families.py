"""The supported families of models that read images, as data.

Does: list the architectures, with the defaults of the language half of their `config.json`. Does not: read files, or
know encoders; their defaults are in `vision_spec`.
"""

from dataclasses import replace

from .family import QWEN_WINDOWS, STACKED_EXPERTS, ExpertLayout, ExpertStack, Family

HALVES = (("model.language_model.", "model."), ("model.visual.", "visual."))
"""The beginnings of the names of both halves, as later checkpoints have them."""

_QWEN3_VL = Family(
    name="qwen3-vl",
    architecture="Qwen3VLForConditionalGeneration",
    examples="Qwen3-VL 2B, 4B, 8B, 32B",
    qkv_bias="attention_bias",
    output_bias="attention_bias",
    qk_norm="head",
    head_dim=128,
    defaults={
        "num_key_value_heads": 32,
        "max_position_embeddings": 128000,
        "rope_theta": 500000.0,
    },
    vision="deepstack",
    interleaves=True,
    prefixes=HALVES,
)

VISION_FAMILIES = (
    Family(
        name="qwen2.5-vl",
        architecture="Qwen2_5_VLForConditionalGeneration",
        examples="Qwen2.5-VL",
        qkv_bias=True,
        windows=QWEN_WINDOWS,
        defaults={
            "num_key_value_heads": 8,
            "rms_norm_eps": 1e-5,
            "max_position_embeddings": 32768,
            "rope_theta": 1000000.0,
            "max_window_layers": 80,
        },
        vision="windowed",
        prefixes=HALVES,
    ),
    _QWEN3_VL,
    replace(
        _QWEN3_VL,
        name="qwen3-vl-moe",
        architecture="Qwen3VLMoeForConditionalGeneration",
        examples="Qwen3-VL 30B-A3B, 235B-A22B",
        head_dim=None,
        experts=ExpertLayout(
            count="num_experts",
            ffn="moe_intermediate_size",
            router="model.layers.{i}.mlp.gate",
            linears=STACKED_EXPERTS,
            renormalised=True,
            every="decoder_sparse_step",
            dense="mlp_only_layers",
            stacked=ExpertStack(),
        ),
        defaults={
            "num_key_value_heads": 16,
            "max_position_embeddings": 128000,
            "rope_theta": 500000.0,
            "num_experts": 60,
            "num_experts_per_tok": 4,
            "moe_intermediate_size": 1408,
        },
    ),
)
