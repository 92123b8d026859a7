"""Quantised checkpoints divided among ranks: each rank has the codes of its part, in every published format."""

from pathlib import Path

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.layers import GatedMlp
from intaglio.engine.model.spec import read_spec
from intaglio.engine.model.weights import load_decoder
from intaglio.engine.parallel.parallel_layout import Parallel, TensorParallel

from tests.engine.model.test_published import CPU, KERNELS, decoder, write
from tests.support.quantised_checkpoints import FORMATS
from tests.support.threaded_ranks import on_ranks

ORDERED = [form for form in FORMATS if "desc-act" in form or "ordered" in form]


def part(folder: Path, parallel: TensorParallel, dtype: torch.dtype = torch.float32) -> Decoder:
    return load_decoder(
        folder,
        read_spec(folder),
        kernels=KERNELS,
        dtype=dtype,
        device=CPU,
        positions=64,
        parallel=Parallel(parallel),
    )


def products(model: Decoder, parallel: TensorParallel | None) -> list[torch.Tensor]:
    """The products of the first layer with unit rows: of matrices that sum over ranks, and of a rank's own outputs."""
    attention, mlp = model.layers[0].attention, model.layers[0].mlp
    assert isinstance(mlp, GatedMlp)
    wide = torch.eye(192)
    found = [attention.qkv.matmul(torch.eye(64)), mlp.gate_up.matmul(torch.eye(64))]
    for weight in (attention.output, mlp.down):
        rows = wide
        if parallel is not None:
            size = weight.inputs * parallel.layout.tp
            rows = wide[:size, :size][:, parallel.layout.part(size)].contiguous()
        else:
            rows = wide[: weight.inputs, : weight.inputs]
        found.append(weight.matmul(rows))
    return found


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in (*ORDERED, "fp8-blocks")])
def test_ranks_have_the_weights_of_the_format(form: str, tmp_path: Path) -> None:
    folder, dense = write(tmp_path, form)
    qkv, gate_up, output, down = products(decoder(dense), None)
    ranks = on_ranks(2, lambda own: products(part(folder, own), own))
    for own in ranks:
        assert torch.equal(own[2], output)
        assert torch.equal(own[3], down)
    spec = read_spec(folder)
    sizes = [head * spec.head_dim // 2 for head in (spec.heads, spec.kv_heads, spec.kv_heads)]
    for whole, index, widths in ((qkv, 0, sizes), (gate_up, 1, [spec.ffn // 2] * 2)):
        parts = [torch.split_with_sizes(rank[index], widths, 1) for rank in ranks]
        joined = torch.cat([piece for pieces in zip(*parts, strict=True) for piece in pieces], 1)
        assert torch.equal(joined, whole)


@pytest.mark.parametrize("form", ORDERED)
def test_inputs_ordered_by_activation_are_refused_by_name(form: str, tmp_path: Path) -> None:
    folder, _ = write(tmp_path, form)
    with pytest.raises(ModelError, match="o_proj are ordered by activation") as refused:
        on_ranks(2, lambda own: part(folder, own))
    assert refused.value.where == "tp"


@pytest.mark.parametrize(("form", "tp", "size"), [("gptq-4", 4, 32), ("fp8-blocks", 2, 40)])
def test_a_group_of_inputs_is_never_divided(form: str, tp: int, size: int, tmp_path: Path) -> None:
    """192 inputs are 48 or 96 on each rank."""
    folder, _ = write(tmp_path, form)
    with pytest.raises(ModelError, match=f"not whole groups of {size}"):
        on_ranks(tp, lambda own: part(folder, own))


def test_four_bits_stay_in_four_bits_on_every_rank(tmp_path: Path) -> None:
    folder, dense = write(tmp_path, "w4a16")
    expected = products(decoder(dense, torch.float32), None)[3]
    wide = torch.eye(192).bfloat16()

    def down(own: TensorParallel) -> torch.Tensor:
        mlp = part(folder, own, torch.bfloat16).layers[0].mlp
        assert isinstance(mlp, GatedMlp)
        return mlp.down.matmul(wide[:, own.layout.part(192)].contiguous())

    first, second = on_ranks(2, down)
    assert torch.equal(first, second)
    assert (first.float() - expected).norm() < 0.01 * expected.norm()
