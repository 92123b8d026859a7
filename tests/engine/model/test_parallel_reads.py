"""Tensors read in chunks by several threads: the same values, bounded staging, and errors of files.

The path of a GPU runs here with a double for its copies, which checks the buffers.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Lock

import pytest
import torch
from intaglio.engine.errors import ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.file_spans import Span
from intaglio.engine.model.parallel_reads import (
    CHUNK_BYTES,
    SPARE_BUFFERS,
    THREADS,
    ParallelReads,
)
from intaglio.engine.model.read_jobs import ReadJobs
from intaglio.engine.model.spec import read_spec
from intaglio.engine.model.tensor_files import TensorFile, files_by_tensor, open_tensors
from intaglio.engine.model.weight_uploads import CudaUploads, HostUploads, StagingRing
from intaglio.engine.model.weights import load_decoder
from intaglio.kernels.dispatch import choose
from safetensors.torch import save_file
from torch import Tensor

from tests.support.tiny_checkpoint import LLAMA, QWEN2, random_weights, write_checkpoint

CPU = torch.device("cpu")
CHUNK = 64  # bytes
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.int8, torch.float8_e4m3fn, torch.bool)


class LateCopy:
    """A copy that takes place when it is waited for, or asked about for the second time."""

    def __init__(self, staged: Tensor, place: Tensor) -> None:
        self._staged, self._place, self._lock = staged, place, Lock()
        self._before = staged.clone()
        self._asked = self.ended = False

    def query(self) -> bool:
        if self._asked:
            self.synchronize()
        self._asked = True
        return self.ended

    def synchronize(self) -> None:
        with self._lock, torch.inference_mode():
            if not self.ended:
                before, staged = (each.view(torch.uint8) for each in (self._before, self._staged))
                assert torch.equal(before, staged), "the buffer was written before its copy"
                self._place.copy_(self._staged)
                self.ended = True


class LateUploads:
    """Copies as a device makes them: late. No buffer may be written before its copy has ended."""

    def __init__(self) -> None:
        self.buffers = 0
        self._lock = Lock()
        self._copies: list[LateCopy] = []

    @property
    def unfinished(self) -> int:
        return sum(not copy.ended for copy in self._copies)

    def buffer(self, nbytes: int) -> Tensor:
        with self._lock:
            self.buffers += 1
        return torch.empty(nbytes, dtype=torch.uint8)

    def begin(self) -> None:
        pass

    def upload(self, staged: Tensor, place: Tensor) -> LateCopy:
        copy = LateCopy(staged, place)
        with self._lock:
            self._copies.append(copy)
        return copy

    def finish(self) -> None:
        for copy in self._copies:
            copy.synchronize()

    def close(self) -> None:
        self.finish()


@contextmanager
def reads(uploads: LateUploads | None = None, chunk: int = CHUNK) -> Iterator[ParallelReads]:
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
    uploads = LateUploads() if staged else None
    with reads(uploads) as source:
        for name, span in spans(tmp_path / "a.safetensors").items():
            got = source.tensor(span, span.dtype)
            assert got.shape == written[name].shape
            assert torch.equal(got.view(-1).view(torch.uint8), _bytes(written[name])), name
        assert source.read_bytes == sum(each.nbytes for each in written.values())
    if uploads is not None:
        assert 1 < uploads.buffers <= THREADS + SPARE_BUFFERS
        assert not uploads.unfinished


def test_without_pinned_memory_buffers_are_pageable() -> None:
    """Here torch has no device to pin memory for, and raises what it raises where the driver refuses."""
    uploads = object.__new__(CudaUploads)
    with pytest.raises(RuntimeError):
        torch.empty(1, pin_memory=True)
    assert not uploads.buffer(100).is_pinned()
    assert uploads.buffer(100).nbytes == 100


def _bytes(tensor: Tensor) -> Tensor:
    return tensor.contiguous().view(-1).view(torch.uint8)


@pytest.mark.parametrize("staged", [False, True])
def test_floats_are_converted_chunk_by_chunk(tmp_path: Path, staged: bool) -> None:
    written = {"a": torch.randn(70, 31), "b": torch.randn(9).half(), "c": torch.randn(300).double()}
    save_file(written, tmp_path / "a.safetensors")
    with reads(LateUploads() if staged else None) as source:
        for name, span in spans(tmp_path / "a.safetensors").items():
            assert torch.equal(
                source.tensor(span, torch.bfloat16), written[name].to(torch.bfloat16)
            )


def test_nothing_is_staged_where_bytes_are_read_into_their_tensor(tmp_path: Path) -> None:
    """Beside the tensors a host has no memory of their size: none at all, or a bounded ring of chunks."""

    class Counted(HostUploads):
        staged = 0

        def buffer(self, nbytes: int) -> Tensor:
            assert nbytes == CHUNK
            self.staged += 1
            return super().buffer(nbytes)

    save_file({"a": torch.randn(10000)}, tmp_path / "a.safetensors")
    (span,) = spans(tmp_path / "a.safetensors").values()
    with closing(ParallelReads(CPU, None, CHUNK)) as source:
        source._uploads = uploads = Counted()
        source._ring = StagingRing(uploads, CHUNK, 3)
        source.tensor(span, torch.float32)
        source.joined([span], torch.float32)
        source.settle()
        assert not uploads.staged
        source.tensor(span, torch.bfloat16)
        assert 0 < uploads.staged <= max(3, THREADS)


def test_the_ring_makes_no_more_buffers_while_copies_are_slow(tmp_path: Path) -> None:
    save_file({"a": torch.randn(10000)}, tmp_path / "a.safetensors")
    (span,) = spans(tmp_path / "a.safetensors").values()
    uploads = LateUploads()
    with closing(ParallelReads(CPU, uploads, CHUNK, threads=2)) as source:
        got = source.joined([span, span], torch.float32)
        source.settle()
        assert uploads.buffers <= 2 + SPARE_BUFFERS
        assert torch.equal(got[:10000], got[10000:])
        assert torch.equal(got[:10000], source.tensor(span, torch.float32))


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_pieces_are_read_to_their_places(tmp_path: Path, staged: bool, dtype: torch.dtype) -> None:
    """Rows and columns of several tensors, in one tensor. Many rows take several calls, wide ones several chunks."""
    written = {"a": torch.randn(37, 24), "b": torch.randn(1300, 24), "c": torch.randn(5, 61)}
    save_file(written, tmp_path / "a.safetensors")
    found = spans(tmp_path / "a.safetensors")
    for chunk in (CHUNK, 1 << 20):
        with reads(LateUploads() if staged else None, chunk) as source:
            rows = source.joined(
                [found["a"].rows(slice(3, 20)), found["b"], found["a"].rows(slice(0, 0))], dtype
            )
            for first, last in ((0, 7), (5, 24), (23, 24), (0, 24)):
                of_b = replace(found["b"], columns=slice(first, last))
                columns = source.joined([of_b], dtype)
                of_c = source.tensor(replace(found["c"], columns=slice(first, last)), dtype)
                source.settle()
                assert columns.is_contiguous()
                assert torch.equal(columns, written["b"][:, first:last].to(dtype))
                assert torch.equal(of_c, written["c"][:, first:last].to(dtype))
            assert torch.equal(rows, torch.cat([written["a"][3:20], written["b"]]).to(dtype))


def test_what_is_waited_for_is_read_before_what_may_come_later() -> None:
    jobs, running = ReadJobs(1), Event()
    order: list[str] = []

    def wait() -> None:
        assert running.wait(5)

    first = jobs.submit(wait, later=True)
    for number in range(3):
        jobs.submit(partial(order.append, f"later {number}"), later=True)
    urgent = jobs.submit(partial(order.append, "urgent"), later=False)
    cancelled = jobs.submit(partial(order.append, "cancelled"), later=False)
    cancelled.cancel()
    running.set()
    first.result(5)
    urgent.result(5)
    assert order[0] == "urgent"
    jobs.close()
    assert "cancelled" not in order


def test_a_failure_of_a_thread_reaches_the_caller(tmp_path: Path) -> None:
    class Failing(LateUploads):
        def upload(self, staged: Tensor, place: Tensor) -> LateCopy:
            raise RuntimeError("no device")

    save_file({"a": torch.randn(1000)}, tmp_path / "a.safetensors")
    (span,) = spans(tmp_path / "a.safetensors").values()
    with reads(Failing()) as source:
        source.joined([span], torch.float32)
        with pytest.raises(RuntimeError, match="no device"):
            source.settle()
        with pytest.raises(RuntimeError, match="no device"):
            source.tensor(span, torch.float32)


@pytest.mark.parametrize("change", ["shorter", "written", "replaced"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.safetensors"
    save_file({"a": torch.randn(1000), "b": torch.randn(3)}, path)
    found = spans(path)
    status = path.stat()
    with reads() as source:
        source.tensor(found["b"], torch.float32)  # opens the file
        if change == "shorter":
            os.truncate(path, found["a"].begin + 2000)
        elif change == "written":
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
        else:
            path.rename(tmp_path / "old")
            save_file({"a": torch.randn(1000), "b": torch.randn(3)}, path)
        if change != "replaced":
            source.joined([found["a"]], torch.float32)
            with pytest.raises(
                ModelError, match=r"ends at byte|was replaced or written"
            ) as refused:
                source.settle()
            assert refused.value.where == str(path)
            return
        source.joined([found["a"]], torch.float32)  # of the file that is open
        source.settle()
    with reads() as source, pytest.raises(ModelError, match="was replaced or written"):
        source.joined([found["a"]], torch.float32)


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
