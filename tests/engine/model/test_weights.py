"""The loader of weights: the tensors it reads, and its refusals."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.layers import GatedMlp, Layer
from intaglio.engine.model.spec import parse_spec, read_spec
from intaglio.engine.model.weights import load_decoder, random_decoder
from intaglio.kernels.contracts import Weight
from intaglio.kernels.dispatch import choose
from intaglio.kernels.reference import ReferenceWeight
from safetensors.torch import save_file

from tests.support.tiny_checkpoint import LLAMA, QWEN2, QWEN3, random_weights, write_checkpoint

CPU = torch.device("cpu")


def load(folder: Path, dtype: torch.dtype = torch.float32) -> Decoder:
    return load_decoder(
        folder, read_spec(folder), kernels=choose(CPU), dtype=dtype, device=CPU, positions=64
    )


def mlp(layer: Layer) -> GatedMlp:
    assert isinstance(layer.mlp, GatedMlp)
    return layer.mlp


def stored(weight: Weight) -> torch.Tensor:
    """The matrix [outputs, inputs] of an unquantised weight on the host."""
    assert isinstance(weight, ReferenceWeight)
    return torch.cat(weight.parts).T


def test_fused_linears_hold_their_parts_in_order(tmp_path: Path) -> None:
    weights = random_weights(LLAMA)
    decoder = load(write_checkpoint(tmp_path, LLAMA))
    x = torch.randn(3, 64)
    for i, layer in enumerate(decoder.layers):
        prefix = f"model.layers.{i}."
        for linear, names in (
            (layer.attention.qkv, ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
            (mlp(layer).gate_up, ["mlp.gate_proj", "mlp.up_proj"]),
        ):
            expected = [
                x @ weights[f"{prefix}{name}.weight"].T + weights[f"{prefix}{name}.bias"]
                for name in names
            ]
            got = linear.matmul(x)
            torch.testing.assert_close(got, torch.cat(expected, 1), atol=1e-5, rtol=1e-5)


def test_sharded_and_single_files_give_the_same(tmp_path: Path) -> None:
    single = load(write_checkpoint(tmp_path / "a", QWEN3))
    sharded = load(write_checkpoint(tmp_path / "b", QWEN3, shards=4))
    assert torch.equal(single.embedding, sharded.embedding)
    for a, b in zip(single.layers, sharded.layers, strict=True):
        assert torch.equal(stored(a.attention.qkv), stored(b.attention.qkv))
        assert torch.equal(stored(mlp(a).down), stored(mlp(b).down))


def test_weights_take_the_wanted_dtype_and_own_their_memory(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, QWEN2)
    decoder = load(folder, torch.bfloat16)
    assert decoder.embedding.dtype == decoder.variants[0].rope.cos.dtype == torch.bfloat16
    decoder = load(folder)
    before = decoder.embedding.clone()
    (folder / "model.safetensors").write_bytes(b"\0" * 10)
    assert torch.equal(decoder.embedding, before)


def test_the_head_is_the_embedding_only_where_tied(tmp_path: Path) -> None:
    tied = load(write_checkpoint(tmp_path / "a", QWEN2))
    assert tied.head is not None
    assert torch.equal(stored(tied.head), tied.embedding)
    free = load(write_checkpoint(tmp_path / "b", LLAMA))
    assert free.head is not None
    assert not torch.equal(stored(free.head), free.embedding)


def test_every_tensor_that_does_not_fit_is_named(tmp_path: Path) -> None:
    weights = random_weights(QWEN3)
    weights["model.layers.0.self_attn.q_norm.bias"] = torch.zeros(32)
    del weights["model.layers.1.mlp.down_proj.weight"]
    weights["model.norm.weight"] = torch.zeros(65)
    write_checkpoint(tmp_path, QWEN3, weights=weights, shards=2)
    with pytest.raises(ModelError) as caught:
        load(tmp_path)
    message = caught.value.message
    assert "missing model.layers.1.mlp.down_proj.weight" in message
    assert "not used model.layers.0.self_attn.q_norm.bias" in message
    assert "model.norm.weight is [65], not [64]" in message


def test_many_missing_tensors_are_counted(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, LLAMA, weights={"model.norm.weight": torch.ones(64)})
    with pytest.raises(ModelError, match=r"and \d+ more"):
        load(tmp_path)


def test_biases_that_the_config_does_not_announce_are_refused(tmp_path: Path) -> None:
    weights = random_weights(LLAMA)
    write_checkpoint(tmp_path, {**LLAMA, "mlp_bias": False}, weights=weights)
    with pytest.raises(ModelError, match=r"not used .*mlp\.down_proj\.bias"):
        load(tmp_path)


def test_derived_tensors_of_old_checkpoints_are_passed_over(tmp_path: Path) -> None:
    weights = random_weights(LLAMA)
    weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.zeros(8)
    load(write_checkpoint(tmp_path, LLAMA, weights=weights))


def test_a_tied_checkpoint_may_repeat_its_head_but_not_change_it(tmp_path: Path) -> None:
    weights = random_weights(QWEN2)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()
    load(write_checkpoint(tmp_path / "same", QWEN2, weights=weights))
    weights["lm_head.weight"] += 1
    with pytest.raises(ModelError, match="another head") as caught:
        load(write_checkpoint(tmp_path / "other", QWEN2, weights=weights))
    assert caught.value.where == "lm_head.weight"


def test_files_that_are_not_there_or_not_safetensors(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, LLAMA)
    (folder / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="cannot read"):
        load(folder)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="there is no"):
        load(folder)


def test_an_index_must_agree_with_its_files(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, LLAMA, shards=2)
    index = folder / "model.safetensors.index.json"
    good = json.loads(index.read_text())
    name = next(iter(good["weight_map"]))
    bad = {**good["weight_map"], "model.extra": good["weight_map"][name]}
    index.write_text(json.dumps({"weight_map": bad}))
    with pytest.raises(ModelError, match=r"disagrees .* model\.extra"):
        load(folder)
    index.write_text(json.dumps({"weight_map": {**good["weight_map"], name: "../x.safetensors"}}))
    with pytest.raises(ModelError, match="outside"):
        load(folder)
    index.write_text("{}")
    with pytest.raises(ModelError, match="weight_map"):
        load(folder)
    index.write_text(json.dumps(good))
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ModelError, match="there is no"):
        load(folder)


def test_a_tensor_in_two_shards_is_refused(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, LLAMA, shards=2)
    second = folder / "model-00002-of-00002.safetensors"
    index = json.loads((folder / "model.safetensors.index.json").read_text())["weight_map"]
    weights = random_weights(LLAMA)
    mine = {n: weights[n] for n, file in index.items() if file == second.name}
    twin = next(n for n, file in index.items() if file != second.name)
    save_file({**mine, twin: weights[twin]}, second)
    with pytest.raises(ModelError, match="disagrees"):
        load(folder)


@pytest.mark.parametrize("config", [LLAMA, QWEN3])
def test_random_weights_have_the_shapes_and_the_scale(config: dict[str, Any]) -> None:
    spec = parse_spec(config)
    decoder = random_decoder(
        spec, kernels=choose(CPU), dtype=torch.float32, device=CPU, positions=64
    )
    assert decoder.embedding.shape == (spec.vocab_size, spec.hidden)
    assert decoder.embedding.std().item() == pytest.approx(0.02, rel=0.05)
    assert torch.equal(decoder.norm.weight, torch.ones(spec.hidden))
    assert decoder.head is not None
    assert (decoder.head.outputs, len(decoder.layers)) == (spec.vocab_size, spec.layers)


def test_a_file_larger_than_the_address_space_is_refused_with_the_limit(tmp_path: Path) -> None:
    """In a process of its own, whose limit is lowered after the imports."""
    path, size = tmp_path / "model.safetensors", 8 << 30
    tensor = {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}
    header = json.dumps({"a": tensor}).encode()
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)  # sparse: it takes no space
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from intaglio.engine.errors import ModelError\n"
        "from intaglio.engine.model.tensor_files import open_tensors\n"
        "pages = int(Path('/proc/self/statm').read_text().split()[0])\n"
        "limit = pages * resource.getpagesize() + (1 << 30)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "try: open_tensors(Path(sys.argv[1]))\n"
        "except ModelError as error: print(error.hint)\n"
    )
    command = [sys.executable, "-P", "-c", script, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "ulimit -v" in ended.stdout
