"""Places of tensors in files, and the identity of a file.

Does: say which bytes a tensor, or the part of it that a rank keeps, has in a file. Does not: open or read files.
"""

import os
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Self

import torch

from ..errors import ModelError


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells a file from one that replaced it, or that was written since: device, inode, bytes and nanoseconds."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The identity of a file with this status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Span:
    """A tensor in a file: the place of its bytes, and their meaning.

    `columns`: those that are kept of each row of a tensor [rows, columns]; None for all. `identity` is that of the file
    with the header that named this place; None: any.
    """

    path: Path
    begin: int
    shape: tuple[int, ...]
    dtype: torch.dtype
    columns: slice | None = None
    identity: FileIdentity | None = None

    @property
    def numel(self) -> int:
        """The number of values, of all columns."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes, of all columns."""
        return self.numel * self.dtype.itemsize

    @property
    def kept(self) -> tuple[int, ...]:
        """The shape of what is kept."""
        if self.columns is None:
            return self.shape
        return self.shape[0], self.columns.stop - self.columns.start

    def rows(self, own: slice) -> Self:
        """The part with these rows, of the first dimension."""
        row = prod(self.shape[1:]) * self.dtype.itemsize
        shape = (own.stop - own.start, *self.shape[1:])
        return replace(self, begin=self.begin + own.start * row, shape=shape)

    def row(self, row: int) -> Self:
        """The columns that are kept of a row."""
        assert self.columns is not None
        first = row * self.shape[1] + self.columns.start
        begin = self.begin + first * self.dtype.itemsize
        return replace(self, begin=begin, shape=self.kept[1:], columns=None)


def refuse_replaced(path: Path, expected: FileIdentity | None, status: os.stat_result) -> None:
    """Raise `ModelError` if a file with this status is not the one with the identity `expected`."""
    if expected is None or expected == FileIdentity.of(status):
        return
    if expected.size > status.st_size:
        raise ModelError(
            f"{path} ends at byte {status.st_size}, within a tensor",
            where=str(path),
            hint="the file became shorter while it was read: download it again",
        )
    raise ModelError(
        f"{path} was replaced or written while it was read",
        where=str(path),
        hint="start again when nothing writes the folder of the model",
    )
