"""The tensors of a checkpoint's files as a source of weights.

Does: read tensors, and pieces of them, by name in the dtype that the model has in memory. Does not: check names and
shapes (`expected_tensors`), or divide bytes among threads (`parallel_reads`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import torch
from torch import Tensor

from .file_spans import Span
from .parallel_reads import SMALL_BYTES, ParallelReads
from .schemes.scheme import Stored
from .tensor_files import TensorFile
from .tensor_source import TensorCut

AHEAD_BYTES: Final = 512 << 20
"""The most memory of tensors that are expected and not asked for yet: about two layers of a model of 8B in one byte."""


@dataclass(frozen=True, slots=True)
class FileTensors:
    """Reads tensors from several files by `reads`; in `dtype` unless `stored` has another one. See `WholeTensors`."""

    files: Mapping[str, TensorFile]
    stored: Mapping[str, Stored]
    dtype: torch.dtype
    reads: ParallelReads
    ahead_bytes: int = AHEAD_BYTES
    _begun: dict[str, tuple[int, Callable[[], Tensor]]] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """See `TensorSource`."""
        return name in self.files

    def shape(self, name: str) -> tuple[int, ...]:
        """See `WholeTensors`."""
        return self.files[name].span(name).shape

    def tensor(self, name: str) -> Tensor:
        """See `TensorSource`."""
        begun = self._begun.pop(name, None)
        if begun is not None:
            return begun[1]()
        return self.reads.tensor(self.files[name].span(name), self._dtype(name))

    def expect(self, names: Sequence[str]) -> None:
        """See `WholeTensors`."""
        for name in names:
            if name in self._begun or name not in self.files:
                continue
            span, dtype = self.files[name].span(name), self._dtype(name)
            nbytes = span.numel * dtype.itemsize
            taken = sum(size for size, _ in self._begun.values())
            if span.nbytes > SMALL_BYTES and taken + nbytes <= self.ahead_bytes:
                self._begun[name] = nbytes, self.reads.begin(span, dtype)

    def joined(self, pieces: Sequence[TensorCut]) -> Tensor:
        """See `TensorSource`. Only the pages that hold the pieces are read, straight into their final place."""
        spans = [self._span(piece) for piece in pieces]
        return self.reads.joined(spans, self._dtype(pieces[0].name))

    def settle(self) -> None:
        """See `TensorSource`."""
        self.reads.settle()

    def _dtype(self, name: str) -> torch.dtype:
        return self.stored[name].dtype or self.dtype

    def _span(self, piece: TensorCut) -> Span:
        span = self.files[piece.name].span(piece.name)
        found = span if piece.rows is None else span.rows(piece.rows)
        return found if piece.columns is None else replace(found, columns=piece.columns)
