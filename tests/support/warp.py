"""A warp of 32 threads that executes the inline assembly of kernels on the host.

Does: the instructions that `quantised.row_sums` uses, as the PTX manual defines them. Does not: branches, memory, other
instructions.
"""

import re
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

THREADS = 32
LANE = np.arange(THREADS)
Words = NDArray[np.uint32]


def executed(assembly: str, operands: Mapping[int, NDArray[np.generic]]) -> dict[int, Words]:
    """The registers `$n` after `assembly`; before it, those of `operands`, numbers of 32 bits of each thread."""
    registers = {f"${n}": _bits(x) for n, x in operands.items()}
    predicates: dict[str, NDArray[np.bool_]] = {}
    for text in re.sub(r"^\s*\{(.*)\}\s*$", r"\1", assembly).split(";"):
        if not text.strip() or text.strip().startswith(".reg"):
            continue
        name, rest = text.split(None, 1)
        words = re.findall(r"[%$\w]+", rest)

        def read(word: str) -> Words:
            if word in registers:
                return registers[word]
            return np.full(THREADS, int(word, 0) & 0xFFFFFFFF, np.uint32)

        if name.startswith("setp.ne"):
            predicates[words[0]] = read(words[1]) != read(words[2])
        elif name.startswith("selp"):
            chosen = np.where(predicates[words[3]], read(words[1]), read(words[2]))
            registers[words[0]] = chosen.astype(np.uint32)
        elif words[1:] == ["%laneid"]:
            registers[words[0]] = LANE.astype(np.uint32)
        else:
            registers[words[0]] = OPERATIONS[name.split(".")[0]](*map(read, words[1:]))
    return {int(n[1:]): x for n, x in registers.items() if n.startswith("$")}


def _bits(x: NDArray[np.generic]) -> Words:
    return x.view(np.uint32) if x.itemsize == 4 else x.astype(np.int64).astype(np.uint32)


def _exchanged(x: Words, distance: Words, _clamp: Words, _members: Words) -> Words:
    found: Words = x[LANE ^ distance]
    return found


def _added(a: Words, b: Words) -> Words:
    return (a.view(np.float32) + b.view(np.float32)).view(np.uint32)


OPERATIONS: dict[str, Callable[..., Words]] = {
    "mov": lambda a: a.copy(),
    "and": lambda a, b: a & b,
    "shfl": _exchanged,
    "add": _added,
}
