"""The sizes of draft heads are read as published files have them, and everything else is refused by its key."""

from typing import Any

import pytest
from intaglio.engine.errors import ModelError
from intaglio.engine.model.spec import parse_spec

from tests.support.draft_heads import HEAD, TARGET, head_spec
from tests.support.tiny_checkpoint import QWEN3

IDS = "eagle_aux_hidden_state_layer_ids"
PLAIN = {key: value for key, value in HEAD.items() if key != IDS}


def test_the_sizes_are_those_of_the_file() -> None:
    spec = head_spec({**HEAD, "norm_before_residual": True})
    assert (spec.draft_vocab, spec.hidden, spec.stream, spec.layers) == (120, 64, 64, (0, 1, 2))
    assert spec.normed_residual
    layer = spec.layer
    assert (layer.layers, layer.heads, layer.kv_heads, layer.head_dim) == (1, 4, 2, 16)
    assert (layer.ffn, layer.norm_eps, layer.kinds[0].rope.theta) == (96, 1e-5, 10000.0)
    whole = {key: value for key, value in HEAD.items() if key != "draft_vocab_size"}
    assert head_spec(whole).draft_vocab == 300


@pytest.mark.parametrize(
    ("config", "layers"),
    [
        ({}, (2, 16, 29)),
        ({IDS: [2, 16, 29]}, (2, 16, 29)),
        ({"eagle_config": {IDS: [1, 15, 28], "use_aux_hidden_state": True}}, (2, 16, 29)),
        ({"eagle_config": {"use_aux_hidden_state": True}}, (2, 16, 29)),
        ({IDS: [0, 1, 31]}, (0, 1, 31)),
    ],
)
def test_three_layers_are_read_where_the_file_says_or_where_trainers_have_them(
    config: dict[str, Any], layers: tuple[int, ...]
) -> None:
    assert head_spec({**PLAIN, **config}, {**QWEN3, "num_hidden_layers": 32}).layers == layers


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, "architectures"),
        ({"num_hidden_layers": 2}, "num_hidden_layers"),
        ({"attention_bias": True}, "attention_bias"),
        ({"fc_norm": True}, "fc_norm"),
        ({"norm_output": True}, "norm_output"),
        ({"vocab_size": 320}, "vocab_size"),
        ({"draft_vocab_size": 301}, "draft_vocab_size"),
        ({"target_hidden_size": 128}, "target_hidden_size"),
        ({"hidden_size": 128}, "hidden_size"),
        ({"hidden_act": "relu"}, "hidden_act"),
        ({"rope_scaling": {"rope_type": "spiral"}}, "rope_scaling"),
        ({"norm_before_residual": 1}, "norm_before_residual"),
        ({IDS: [0, 1]}, IDS),
        ({IDS: [1, 0, 2]}, IDS),
        ({IDS: [0, 1, 3]}, IDS),
        ({IDS: [0, 1, "2"]}, IDS),
        ({IDS: None}, IDS),  # the usual ones of three layers are not three
        ({IDS: None, "eagle_config": {IDS: [0, 1, 2]}}, f"eagle_config/{IDS}"),
        ({"eagle_config": 3}, "eagle_config"),
        ({"eagle_config": {"use_aux_hidden_state": False}}, "eagle_config/use_aux_hidden_state"),
        ({"quantization_config": {"quant_method": "fp8", "fmt": "e4m3"}}, "quantization_config"),
    ],
)
def test_what_the_pass_of_a_head_does_not_have_is_refused_by_its_key(
    config: dict[str, Any], where: str
) -> None:
    with pytest.raises(ModelError) as refused:
        head_spec({**HEAD, **config})
    assert refused.value.where == where


def test_a_head_for_a_model_of_another_width_says_which_width_it_needs() -> None:
    wide = {**TARGET, "hidden_size": 128}
    spec = head_spec({**HEAD, "target_hidden_size": 128}, wide)
    assert (spec.hidden, spec.stream, parse_spec(wide).hidden) == (64, 128, 128)
