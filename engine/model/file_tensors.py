"""The tensors of a checkpoint's files as a source of weights.

Does: read tensors, and pieces of them, by name in the dtype that the model has in memory. Does not: check names and
shapes (`expected_tensors`), or divide bytes among threads (`parallel_reads`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from .file_spans import Span
from .parallel_reads import ParallelReads
from .schemes.scheme import Stored
from .tensor_files import TensorFile
from .tensor_source import TensorCut


@dataclass(frozen=True, slots=True)
class FileTensors:
    """Reads tensors from several files by `reads`; in `dtype` unless `stored` has another one. See `WholeTensors`."""

    files: Mapping[str, TensorFile]
    stored: Mapping[str, Stored]
    dtype: torch.dtype
    reads: ParallelReads

    def has(self, name: str) -> bool:
        """See `TensorSource`."""
        return name in self.files

    def shape(self, name: str) -> tuple[int, ...]:
        """See `WholeTensors`."""
        return self.files[name].span(name).shape

    def tensor(self, name: str) -> Tensor:
        """See `TensorSource`."""
        return self.reads.tensor(self.files[name].span(name), self._dtype(name))

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
