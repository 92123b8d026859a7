"""The estimated time and tokens of a job before it starts.

Does: read the whole source, extract from a few rows, extrapolate. Does not: store anything.
"""

import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from intaglio.schemas.jobs import JobSpec

from ..client import IntaglioError
from .backends import ExtractionBackend, Task
from .ingest import selected_rows
from .records.row import Claim, NewRow
from .records.row_files import load
from .source_images import image_access

_TRIED: Final = 8
_MAX_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class Estimate:
    """The rows of a source and the cost of the `tried` ones, `seconds` in total; `failed` lists the reasons of
    failures.

    `refused` are the first records that are not documents. `characters` is the total length of all documents.
    """

    rows: int
    dead: int
    characters: int
    refused: tuple[NewRow, ...]
    tried: int
    failed: tuple[str, ...]
    prompt_tokens: int
    output_tokens: int
    seconds: float

    def scaled(self, amount: float) -> float:
        """Extrapolate an amount from the tried rows to all rows."""
        done = self.tried - len(self.failed)
        return amount / done * (self.rows - self.dead) if done else 0.0


def estimate(spec: JobSpec, extracting: ExtractionBackend) -> Estimate:
    """Read the whole source and extract from the first rows together.

    Raises:
        InputRefused: as `readers.records`, or the rows have images, and the model reads none.
    """
    images = image_access(spec.source, Path(spec.source.path), extracting)
    rows = dead = characters = 0
    refused: list[NewRow] = []
    first: list[Task] = []
    for row in selected_rows(spec, Path(spec.source.path), images):
        if row is None:
            continue
        rows += 1
        if row.failure is not None or row.text is None:
            dead += 1
            if len(refused) < _MAX_SHOWN:
                refused.append(row)
            continue
        characters += len(row.text)
        if len(first) < _TRIED:
            claim = Claim(row.row, row.id, row.text, None, 1, 1)
            first.append(Task(claim, spec.schema_, load(row.files)))
    started = time.perf_counter()
    failed: list[str] = []
    prompt = output = 0
    with closing(extracting.extract(iter(first))) as finished:
        for _, outcome in finished:
            if isinstance(outcome, IntaglioError):
                failed.append(outcome.message)
            else:
                prompt += outcome.usage.prompt_tokens
                output += outcome.usage.output_tokens
    seconds = time.perf_counter() - started
    return Estimate(
        rows, dead, characters, tuple(refused), len(first), tuple(failed), prompt, output, seconds
    )
