"""Tensors read in chunks by several threads: the same values, bounded staging, and errors of files.

The path of a GPU runs here with a double for its copies, which checks the buffers.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from threading import Lock

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.parallel_reads import CHUNK_BYTES, THREADS, ParallelReads, Span
from intaglio.engine.model.spec import read_spec
from intaglio.engine.model.tensor_files import TensorFile, files_by_tensor, open_tensors
from intaglio.engine.model.weights import load_decoder
from intaglio.kernels.dispatch import choose
from safetensors.torch import save_file
from torch import Tensor

from tests.support.tiny_checkpoint import LLAMA, QWEN2, random_weights, write_checkpoint

CPU = torch.device("cpu")
CHUNK = 64  # bytes
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float8_e4m3fn, torch.bool)


class CheckedUploads:
    """Copies as a device makes them: late. No buffer may be written while it is copied, or be given to two threads."""

    def __init__(self) -> None:
        self.buffers = 0
        self.unfinished = 0
        self._lock = Lock()
        self._copied = set[int]()

    def buffer(self, nbytes: int) -> Tensor:
        with self._lock:
            self.buffers += 1
        return torch.empty(nbytes, dtype=torch.uint8)

    def upload(self, staged: Tensor, place: Tensor) -> None:
        before = staged.clone()
        with self._lock:
            assert staged.data_ptr() not in self._copied, "two threads have one buffer"
            self._copied.add(staged.data_ptr())
            self.unfinished += 1
        time.sleep(0.0005)
        assert torch.equal(before.view(torch.uint8), staged.view(torch.uint8)), "written meanwhile"
        place.copy_(staged)
        with self._lock:
            self._copied.remove(staged.data_ptr())

    def finish(self) -> None:
        self.unfinished = 0


@contextmanager
def reads(uploads: CheckedUploads | None = None, chunk: int = CHUNK) -> Iterator[ParallelReads]:
    with closing(ParallelReads(CPU, uploads, chunk)) as found:
        yield found


def random_tensors(rng: Random) -> dict[str, Tensor]:
    """Tensors of every dtype: empty ones, scalars, and of sizes around those of chunks."""
    torch.manual_seed(rng.randrange(1 << 30))
    shapes: list[tuple[int, ...]] = [(), (0,), (1,), (16,), (17,), (3, 5, 7), (64, 33)]
    return {
        f"{dtype}{number}": (torch.randn(shape) * 3).to(dtype)
        for dtype in DTYPES
        for number, shape in enumerate(shapes)
    }


def spans(path: Path) -> dict[str, Span]:
    file: TensorFile = open_tensors(path)
    return {name: file.span(name) for name in file.names}


@pytest.mark.parametrize("staged", [False, True])
def test_tensors_of_all_dtypes_are_read_as_they_were_written(tmp_path: Path, staged: bool) -> None:
    written = random_tensors(Random(1))
    save_file(written, tmp_path / "a.safetensors", metadata={"format": "pt"})
    uploads = CheckedUploads() if staged else None
    with reads(uploads) as source:
        for name, span in spans(tmp_path / "a.safetensors").items():
            got = source.tensor(span, span.dtype)
            assert got.shape == written[name].shape
            assert torch.equal(got.view(-1).view(torch.uint8), _bytes(written[name])), name
        assert source.read_bytes == sum(each.nbytes for each in written.values())
    if uploads is not None:
        assert 1 < uploads.buffers <= THREADS
        assert not uploads.unfinished


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)


@pytest.mark.parametrize("staged", [False, True])
def test_floats_are_converted_chunk_by_chunk(tmp_path: Path, staged: bool) -> None:
    written = {"a": torch.randn(70, 31), "b": torch.randn(9).half(), "c": torch.randn(300).double()}
    save_file(written, tmp_path / "a.safetensors")
    with reads(CheckedUploads() if staged else None) as source:
        for name, span in spans(tmp_path / "a.safetensors").items():
            assert torch.equal(
                source.tensor(span, torch.bfloat16), written[name].to(torch.bfloat16)
            )


def test_nothing_is_staged_where_bytes_are_read_into_their_tensor(tmp_path: Path) -> None:
    """Beside the tensors a host has no memory of their size: none at all, or one chunk for each thread."""

    class Counted(ParallelReads):
        staged = 0

        @contextmanager
        def _staging(self) -> Iterator[Tensor]:
            Counted.staged += 1
            with super()._staging() as buffer:
                yield buffer

    save_file({"a": torch.randn(1000)}, tmp_path / "a.safetensors")
    (span,) = spans(tmp_path / "a.safetensors").values()
    with closing(Counted(CPU, None, CHUNK)) as source:
        source.tensor(span, torch.float32)
        assert Counted.staged == 0
        source.tensor(span, torch.bfloat16)
        assert Counted.staged == -(-4000 // CHUNK)
        assert source._buffers.qsize() <= THREADS


def test_a_file_that_became_shorter_or_is_gone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_file({"a": torch.randn(1000)}, path)
    (span,) = spans(path).values()
    os.truncate(path, span.begin + 2000)
    with reads() as source, pytest.raises(ModelError, match="ends at byte") as refused:
        source.tensor(span, torch.float32)
    assert refused.value.where == str(path)
    path.unlink()
    with reads() as source, pytest.raises(ModelError, match="cannot read"):
        source.tensor(span, torch.float32)


def test_spans_follow_renamed_tensors_of_several_files(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, LLAMA, shards=3)
    weights = random_weights(LLAMA)
    files = files_by_tensor(folder, (("model.", "other."),))
    assert len({file.path for file in files.values()}) == 3
    with reads() as source:
        for name, weight in weights.items():
            name = name.replace("model.", "other.", 1) if name.startswith("model.") else name
            assert torch.equal(source.tensor(files[name].span(name), torch.float32), weight)


@pytest.mark.parametrize("config", [LLAMA, QWEN2], ids=["own head", "tied head"])
def test_a_decoder_of_several_files_is_that_of_one(
    tmp_path: Path, config: dict[str, object]
) -> None:
    one, several = (
        _decoder(write_checkpoint(tmp_path / str(shards), config, shards=shards))
        for shards in (1, 4)
    )
    assert torch.equal(one.embedding, several.embedding)
    x = torch.randn(2, 64)
    for a, b in zip(one.layers, several.layers, strict=True):
        assert torch.equal(a.attention.qkv.matmul(x), b.attention.qkv.matmul(x))
    assert one.head is not None
    assert several.head is not None
    assert torch.equal(one.head.matmul(x), several.head.matmul(x))


def _decoder(folder: Path) -> Decoder:
    spec = read_spec(folder)
    return load_decoder(
        folder, spec, kernels=choose(CPU), dtype=torch.float32, device=CPU, positions=8
    )


def test_chunks_are_of_whole_values() -> None:
    assert CHUNK_BYTES % 8 == 0
