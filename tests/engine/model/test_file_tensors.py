"""Matrices that come later, piece by piece: every weight is what reading whole tensors one after the other gives.

The reference reads with the library of the format, converts, cuts and concatenates whole tensors.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.expected_tensors import coded_tensors, expected_tensors
from intaglio.engine.model.file_tensors import FileTensors
from intaglio.engine.model.parallel_reads import ParallelReads
from intaglio.engine.model.schemes.scheme import Stored, Uniform
from intaglio.engine.model.sharded_weights import ShardedWeights
from intaglio.engine.model.spec import ModelSpec, read_spec
from intaglio.engine.model.tensor_files import files_by_tensor
from intaglio.engine.model.tensor_source import TensorCut, WholeTensors, joined_tensors
from intaglio.engine.model.weights import assemble
from intaglio.engine.parallel.parallel_layout import ParallelLayout
from intaglio.kernels.reference_kernels import ReferenceKernels
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.engine.model.test_parallel_reads import LateUploads
from tests.engine.model.test_published import write
from tests.support.kept_weights import KeepingKernels
from tests.support.quantised_checkpoints import FORMATS
from tests.support.tiny_checkpoint import write_checkpoint
from tests.support.tiny_families import CONFIGS, DIVISIBLE

CPU = torch.device("cpu")
CHUNK = 4096
OURS = ("intaglio.", KeepingKernels.__module__)


@dataclass(frozen=True)
class Whole:
    """Tensors read whole by the library of the format."""

    tensors: dict[str, Tensor]
    stored: dict[str, Stored]
    dtype: torch.dtype

    def has(self, name: str) -> bool:
        return name in self.tensors

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.tensors[name].shape)

    def tensor(self, name: str) -> Tensor:
        return self.tensors[name].to(self.stored[name].dtype or self.dtype, copy=True)

    def joined(self, pieces: Sequence[TensorCut]) -> Tensor:
        return joined_tensors(self, pieces)

    def expect(self, names: Sequence[str]) -> None:
        pass

    def settle(self) -> None:
        pass


def whole(folder: Path, spec: ModelSpec, dtype: torch.dtype) -> Whole:
    tensors: dict[str, Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        tensors |= load_file(path)
    for old, new in spec.family.prefixes:
        for name in [name for name in tensors if name.startswith(old)]:
            tensors[new + name.removeprefix(old)] = tensors.pop(name)
    return Whole(tensors, expected_tensors(spec), dtype)


def from_files(
    folder: Path, spec: ModelSpec, reads: ParallelReads, dtype: torch.dtype
) -> FileTensors:
    files = files_by_tensor(folder, spec.family.prefixes)
    return FileTensors(files, expected_tensors(spec), dtype, reads)


def tensors_of(thing: object, at: str = "") -> Iterator[tuple[str, Tensor]]:
    """All tensors that an object holds, by their place in it."""
    if isinstance(thing, Tensor):
        yield at, thing
    elif isinstance(thing, tuple | list):
        for number, each in enumerate(thing):
            yield from tensors_of(each, f"{at}[{number}]")
    elif type(thing).__module__.startswith(OURS) and not isinstance(thing, ReferenceKernels):
        names = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
        for name in (*names, *getattr(thing, "__dict__", ())):
            yield from tensors_of(getattr(thing, name, None), f"{at}.{name}")


def same(got: Decoder, expected: Decoder) -> int:
    """The number of tensors, all of which are equal."""
    of_got, of_expected = dict(tensors_of(got)), dict(tensors_of(expected))
    assert of_got.keys() == of_expected.keys()
    for name, tensor in of_expected.items():
        assert of_got[name].dtype == tensor.dtype, name
        assert torch.equal(_bytes(of_got[name]), _bytes(tensor)), name
    return len(of_expected)


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)


def assembled(source: WholeTensors, spec: ModelSpec, *, keeps: bool) -> Decoder:
    kernels = KeepingKernels() if keeps else ReferenceKernels()
    with torch.inference_mode():
        decoder = assemble(spec, source, kernels, 64)
        source.settle()
    return decoder


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("family", CONFIGS)
def test_every_weight_of_a_family_is_that_of_whole_tensors(
    family: str, staged: bool, tmp_path: Path
) -> None:
    folder = write_checkpoint(tmp_path, CONFIGS[family], shards=3)
    spec = read_spec(folder)
    keeps = spec.latent is None
    expected = assembled(whole(folder, spec, torch.float32), spec, keeps=keeps)
    with closing(ParallelReads(CPU, LateUploads() if staged else None, CHUNK, threads=3)) as reads:
        got = assembled(from_files(folder, spec, reads, torch.float32), spec, keeps=keeps)
        assert same(got, expected) > 4 * spec.layers


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("form", FORMATS)
def test_every_weight_of_a_format_is_that_of_whole_tensors(
    form: str, dtype: torch.dtype, tmp_path: Path
) -> None:
    folder, _ = write(tmp_path, form)
    spec = read_spec(folder)
    expected = assembled(whole(folder, spec, dtype), spec, keeps=False)
    with closing(ParallelReads(CPU, LateUploads(), CHUNK, threads=3)) as reads:
        got = assembled(from_files(folder, spec, reads, dtype), spec, keeps=False)
        assert same(got, expected) > 4 * spec.layers


def test_what_is_expected_is_read_ahead_once_and_within_its_memory(tmp_path: Path) -> None:
    weights = {name: torch.randn(300, 300) for name in "abcd"} | {"small": torch.randn(10)}
    save_file(weights, tmp_path / "model.safetensors")
    stored = {name: Stored(tuple(weight.shape)) for name, weight in weights.items()}
    ahead = 2 * weights["a"].nbytes
    with closing(ParallelReads(CPU, LateUploads(), CHUNK, threads=3)) as reads:
        source = FileTensors(files_by_tensor(tmp_path), stored, torch.float32, reads, ahead)
        source.expect(["small", "a", "b", "c", "missing"])
        source.expect(["a", "d"])
        assert list(source._begun) == ["a", "b"]
        for name, weight in weights.items():
            assert torch.equal(source.tensor(name), weight)
        assert not source._begun
        assert reads.read_bytes == sum(weight.nbytes for weight in weights.values())
        source.expect(["a"])
        assert torch.equal(source.tensor("a"), source.tensor("a"))
    path = tmp_path / "model.safetensors"
    with closing(ParallelReads(CPU, LateUploads(), CHUNK, threads=3)) as reads:
        source = FileTensors(files_by_tensor(tmp_path), stored, torch.float32, reads)
        os.truncate(path, path.stat().st_size - 1000)
        with pytest.raises(ModelError, match="ends at byte"):
            source.expect(sorted(weights))


@pytest.mark.parametrize("form", ["w4a16", "fp8-blocks", "gptq-4"])
def test_the_coded_tensors_of_a_layer_are_known_by_name(form: str, tmp_path: Path) -> None:
    spec = read_spec(write(tmp_path, form)[0])
    named = coded_tensors(spec)
    assert sorted(named) == list(range(spec.layers))
    assert coded_tensors(replace(spec, schemes=Uniform())) == {}
    every = [name for names in named.values() for name in names]
    dense = {name for name in expected_tensors(spec) if name not in every}
    assert dense
    assert all("_proj." not in name or name.endswith(".bias") for name in dense)


@pytest.mark.parametrize("family", DIVISIBLE)
def test_a_rank_reads_its_own_part_of_matrices(family: str, tmp_path: Path) -> None:
    config: dict[str, Any] = CONFIGS[family]
    folder = write_checkpoint(tmp_path, config, shards=2)
    spec = read_spec(folder)
    matrices = [
        name
        for name, stored in expected_tensors(spec).items()
        if len(stored.shape) == 2 and stored.dtype is None and not name.endswith("bias")
    ]
    for rank in range(2):
        layout = ParallelLayout(2, rank)
        expected = ShardedWeights.of(whole(folder, spec, torch.float32), spec, layout)
        with closing(ParallelReads(CPU, LateUploads(), CHUNK, threads=3)) as reads:
            source = ShardedWeights.of(from_files(folder, spec, reads, torch.float32), spec, layout)
            got = {name: source.joined([TensorCut(name)]) for name in matrices}
            source.settle()
            for name, matrix in got.items():
                assert torch.equal(matrix, expected.tensor(name)), name
