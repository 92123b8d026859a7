"""Configurations of small checkpoints, one or several for each model family: real ones in all but their sizes.

Values are chosen so that leaving out a feature changes the output: windows shorter than the prompts, multipliers that
are not 1, layers of every kind.
"""

from typing import Any

from tests.support.tiny_checkpoint import GEMMA2, LLAMA, MISTRAL, QWEN2, QWEN3

YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
OLDEST: dict[str, dict[str, Any]] = {
    "llama": LLAMA,
    "llama-plain": {**LLAMA, "attention_bias": False, "mlp_bias": False, "rope_scaling": None},
    "mistral": MISTRAL,
    "qwen2": QWEN2,
    "qwen3": QWEN3,
    "qwen3-untied": {**QWEN3, "tie_word_embeddings": False, "attention_bias": True},
    "linear": {**QWEN2, "rope_scaling": {"type": "linear", "factor": 4.0}},
    "dynamic": {**QWEN2, "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}},
    "yarn": {**QWEN3, "rope_scaling": YARN},
    "yarn-tuned": {
        **LLAMA,
        "rope_scaling": {**YARN, "beta_fast": 16.0, "beta_slow": 2.0, "truncate": False},
    },
    "gemma2": GEMMA2,
    "gemma2-uncapped": {
        **{k: v for k, v in GEMMA2.items() if k != "query_pre_attn_scalar"},
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
        "layer_types": ["full_attention"] * 3,
    },
    "rope-parameters": {
        **{key: value for key, value in QWEN3.items() if key != "rope_theta"},
        "rope_parameters": {"rope_type": "default", "rope_theta": 20000.0},
    },
}
"""Configurations of the first families, which `test_parity` runs in more schedules."""

_PLAIN: dict[str, Any] = {
    key: value
    for key, value in LLAMA.items()
    if key not in ("rope_scaling", "attention_bias", "mlp_bias", "rope_theta")
}

GEMMA3: dict[str, Any] = {
    **{k: v for k, v in _PLAIN.items() if k not in ("hidden_act", "tie_word_embeddings")},
    "architectures": ["Gemma3ForCausalLM"],
    "model_type": "gemma3_text",
    "num_hidden_layers": 3,
    "head_dim": 32,
    "sliding_window": 72,
    "sliding_window_pattern": 3,
    "rope_theta": 500000.0,
    "rope_local_base_freq": 5000.0,
    "rope_scaling": {"rope_type": "linear", "factor": 4.0},
    "hidden_activation": "gelu_pytorch_tanh",
    "query_pre_attn_scalar": 24,
}

PHI3: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["Phi3ForCausalLM"],
    "model_type": "phi3",
    "rope_theta": 10000.0,
    "sliding_window": None,
    "pad_token_id": 0,
}

LONG_ROPE = {
    "type": "longrope",
    "short_factor": [1.0 + 0.1 * i for i in range(6)],
    "long_factor": [1.0 + 1.5 * i for i in range(6)],
}

PHI4_MINI: dict[str, Any] = {
    **PHI3,
    "partial_rotary_factor": 0.75,
    "original_max_position_embeddings": 128,
    "rope_scaling": LONG_ROPE,
    "tie_word_embeddings": True,
}

GRANITE: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["GraniteForCausalLM"],
    "model_type": "granite",
    "rope_theta": 10000.0,
    "embedding_multiplier": 2.5,
    "attention_multiplier": 0.1,
    "residual_multiplier": 0.6,
    "logits_scaling": 1.7,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": True,
}

OLMO2: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["Olmo2ForCausalLM"],
    "model_type": "olmo2",
    "rope_theta": 500000.0,
    "pad_token_id": 0,
}

OLMO3: dict[str, Any] = {
    **OLMO2,
    "architectures": ["Olmo3ForCausalLM"],
    "model_type": "olmo3",
    "num_hidden_layers": 4,
    "sliding_window": 50,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 256,
        "attention_factor": 1.2,
    },
}

SMOLLM3: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["SmolLM3ForCausalLM"],
    "model_type": "smollm3",
    "rope_theta": 100000.0,
    "no_rope_layers": [1, 0],
    "use_sliding_window": False,
    "tie_word_embeddings": True,
    "pad_token_id": 0,
}

MINISTRAL: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["MinistralForCausalLM"],
    "model_type": "ministral",
    "rope_theta": 10000.0,
    "num_hidden_layers": 3,
    "head_dim": 32,
    "sliding_window": 100,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}

MIXTRAL: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["MixtralForCausalLM"],
    "model_type": "mixtral",
    "rope_theta": 10000.0,
    "intermediate_size": 48,
    "num_local_experts": 5,
    "num_experts_per_tok": 2,
    "sliding_window": None,
}

QWEN3_MOE: dict[str, Any] = {
    **{key: value for key, value in QWEN3.items() if key != "use_sliding_window"},
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "num_hidden_layers": 3,
    "moe_intermediate_size": 32,
    "num_experts": 8,
    "num_experts_per_tok": 3,
    "norm_topk_prob": True,
    "mlp_only_layers": [1],
    "tie_word_embeddings": False,
}

OLMOE: dict[str, Any] = {
    **OLMO2,
    "architectures": ["OlmoeForCausalLM"],
    "model_type": "olmoe",
    "intermediate_size": 32,
    "num_experts": 6,
    "num_experts_per_tok": 2,
    "norm_topk_prob": False,
}

GPT_OSS: dict[str, Any] = {
    **_PLAIN,
    "architectures": ["GptOssForCausalLM"],
    "model_type": "gpt_oss",
    "num_hidden_layers": 3,
    "head_dim": 32,
    "intermediate_size": 32,
    "rope_theta": 150000.0,
    "rope_scaling": {
        "rope_type": "yarn",
        "factor": 8.0,
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "original_max_position_embeddings": 128,
        "truncate": False,
    },
    "attention_bias": True,
    "sliding_window": 48,
    "num_local_experts": 6,
    "num_experts_per_tok": 3,
    "swiglu_limit": 1.5,
}

DEEPSEEK_V2: dict[str, Any] = {
    **{key: value for key, value in _PLAIN.items() if key != "num_key_value_heads"},
    "architectures": ["DeepseekV2ForCausalLM"],
    "model_type": "deepseek_v2",
    "num_hidden_layers": 3,
    "num_key_value_heads": 4,
    "kv_lora_rank": 24,
    "q_lora_rank": None,
    "qk_nope_head_dim": 20,
    "qk_rope_head_dim": 8,
    "v_head_dim": 28,
    "rope_theta": 10000.0,
    "rope_scaling": {
        "type": "yarn",
        "factor": 8.0,
        "beta_fast": 32,
        "beta_slow": 1,
        "mscale": 0.707,
        "mscale_all_dim": 1.2,
        "original_max_position_embeddings": 128,
    },
    "first_k_dense_replace": 1,
    "n_routed_experts": 8,
    "n_shared_experts": 2,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 32,
    "moe_layer_freq": 1,
    "routed_scaling_factor": 1.7,
    "topk_method": "group_limited_greedy",
    "n_group": 4,
    "topk_group": 2,
    "scoring_func": "softmax",
    "norm_topk_prob": False,
}

DEEPSEEK_V3: dict[str, Any] = {
    **DEEPSEEK_V2,
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "q_lora_rank": 40,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "norm_topk_prob": True,
    "attention_bias": True,
}

CONFIGS: dict[str, dict[str, Any]] = {
    "gemma3": GEMMA3,
    "phi3": PHI3,
    "phi3-window": {**PHI3, "sliding_window": 40},
    "phi4-mini": {**PHI4_MINI, "max_position_embeddings": 1024},
    "granite": GRANITE,
    "olmo2": OLMO2,
    "olmo3": OLMO3,
    "smollm3": SMOLLM3,
    "smollm3-window": {**SMOLLM3, "use_sliding_window": True, "sliding_window": 33},
    "ministral": MINISTRAL,
    "mistral-window": {**MISTRAL, "sliding_window": 129},
    "qwen2-window": {
        **QWEN2,
        "use_sliding_window": True,
        "sliding_window": 64,
        "max_window_layers": 1,
    },
    "mixtral": MIXTRAL,
    "mixtral-window": {**MIXTRAL, "sliding_window": 70},
    "qwen3-moe": QWEN3_MOE,
    "qwen3-moe-sparse": {
        **QWEN3_MOE,
        "norm_topk_prob": False,
        "mlp_only_layers": [],
        "decoder_sparse_step": 2,
        "tie_word_embeddings": True,
    },
    "olmoe": OLMOE,
    "mixtral-all": {**MIXTRAL, "num_experts_per_tok": 5},
    "qwen3-moe-all": {**QWEN3_MOE, "num_experts_per_tok": 8},
    "gpt-oss": GPT_OSS,
    "gpt-oss-all": {**GPT_OSS, "num_experts_per_tok": 6, "sliding_window": 129},
    "deepseek-v2": DEEPSEEK_V2,
    "deepseek-v2-greedy": {
        **DEEPSEEK_V2,
        "rope_scaling": None,
        "topk_method": "greedy",
        "q_lora_rank": 40,
        "routed_scaling_factor": 1.0,
        "first_k_dense_replace": 0,
        "n_shared_experts": 1,
    },
    "deepseek-v2-all": {**DEEPSEEK_V2, "topk_group": 4, "num_experts_per_tok": 8},
    "deepseek-v3": DEEPSEEK_V3,
    "deepseek-v3-halves": {
        **DEEPSEEK_V3,
        "rope_interleave": False,
        "rope_scaling": None,
        "q_lora_rank": None,
        "norm_topk_prob": False,
        "attention_bias": False,
        "n_group": 1,
        "topk_group": 1,
    },
    "deepseek-v3-all": {**DEEPSEEK_V3, "topk_group": 4, "num_experts_per_tok": 8},
    "qwen3-yarn": {
        **QWEN3,
        "max_position_embeddings": 64,
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 8.0,
            "original_max_position_embeddings": 64,
        },
    },
}
"""By name, which begins with the family's or with that of a well-known member."""

EXPERT_COUNTS = ("num_local_experts", "num_experts", "n_routed_experts")
WITHOUT_CHOICE = [
    name
    for name, config in CONFIGS.items()
    if config.get("num_experts_per_tok")
    == next((config[key] for key in EXPERT_COUNTS if key in config), None)
]
"""Those in which rounding cannot change which experts a token uses."""

_WHOLE = ("olmo2", "olmo3", "olmoe", "deepseek")
DIVISIBLE = [name for name in CONFIGS if not name.startswith(_WHOLE)]
"""Families whose matrices can be divided among ranks."""
