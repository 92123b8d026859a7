"""The output and error files of a batch.

Does: write the lines of ended requests in the order of the input, each file under an id that depends on the batch
only, so that writing again replaces it. Does not: decide when a batch has ended (`batch_runner`).
"""

import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, Literal

from .batch_ledger import BatchLedger, StoredBatch
from .client_files import ClientFiles
from .replies import line_of

Offload = Callable[[Callable[[], Any]], Awaitable[Any]]
"""Runs blocking work in a thread."""

_LINES: Final = 200  # read at a time
Part = Literal["output", "error"]


@dataclass(frozen=True, slots=True)
class OutputFiles:
    """The ids of a batch's files; None for a file without lines, which is not written."""

    output: str | None
    error: str | None


async def write_outputs(
    ledger: BatchLedger, files: ClientFiles, batch: StoredBatch, offload: Offload, *, expired: bool
) -> OutputFiles:
    """Write both files.

    Raises:
        InputRefused: the quota of the data folder is exceeded.
    """
    written: dict[Part, str | None] = {}
    for part in ("output", "error"):
        lines = _lines(ledger, batch.id, part, expired=expired)
        first = await offload(partial(_take, lines))
        if not first:
            written[part] = None
            continue
        after = batch.request.output_expires_after
        written[part] = await files.add(
            _chunks(first, lines, offload),
            tenant=batch.owner.tenant,
            filename=f"{batch.id}_{part}.jsonl",
            purpose="batch_output",
            expires_after_s=None if after is None else after.seconds,
            file_id=_file_id(batch.id, part),
        )
    return OutputFiles(written["output"], written["error"])


def _lines(ledger: BatchLedger, batch: str, part: Part, *, expired: bool) -> Iterator[str]:
    for row in ledger.rows(batch).results():
        found = line_of(batch, row, expired=expired)
        if found is not None and found[0] == (part == "output"):
            yield found[1]


async def _chunks(first: list[str], rest: Iterator[str], offload: Offload) -> AsyncIterator[bytes]:
    taken = first
    while taken:
        yield "".join(taken).encode()
        taken = await offload(partial(_take, rest))


def _take(lines: Iterator[str]) -> list[str]:
    return list(islice(lines, _LINES))


def _file_id(batch: str, part: Part) -> str:
    return "file-" + hashlib.sha256(f"{batch} {part}".encode()).hexdigest()[:32]
