"""Training batches made by worker processes while the device trains.

Each worker draws samples from its own seeds, encodes them and sorts them into buckets by length; a full bucket becomes
one padded batch of about `tokens` tokens. Of samples, only the positions of the answer are learnt; of prose, all. The
trainer sets the share of batches with prose while the workers run.
"""

from __future__ import annotations

import json
import lzma
import multiprocessing
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Full
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .draw import Language
from .encode import Codec, load
from .generate import Sample, samples
from .permitted import Grammars, Masks
from .pools import places
from .printed import printed
from .real import records
from .real.passages import passage
from .real.tasks import draw_sample
from .wear import classified, surrounded, worn
from .written import Variations, written_records

LENGTHS = (256, 384, 512, 768, 1024, 1536, 2048, 4096)
PROSE_LENGTH = 1024
LANGUAGES: tuple[Language, ...] = ("en", "de", "fr", "es")
_DESCRIBED = 3.0
"""How often a written document comes whose questions have descriptions, relative to one whose have none: there are few
of them, and schemas that people write describe two properties in five."""
_CHUNK = 64
_PIECE = 100_000_000  # seeds of one piece; held-out documents are scored from 2,000,000,000 up


@dataclass(frozen=True)
class Batch:
    """`ids` [rows, length] padded on the right; `starts` and `ends` bound what is learnt of each row.

    `masks`: the legal tokens of its answers, as far as they are known.
    """

    ids: NDArray[np.uint16]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    masks: Masks | None = None


@dataclass(frozen=True)
class SampleMix:
    """The kinds of samples in the batches of a run, and their shares.

    `real` is the folder that `real.build` wrote; without it there are no records and no prose. Among samples,
    `recorded` is the share of records, `asked` that of real passages with questions, `printed` that of documents as
    machines print them, and `written` that of documents written one by one. `piece` counts the pieces of a run that was
    resumed: each has documents of its own. Of `ranks` devices that train together, this one's documents are those of
    `rank`. `masked` is the share of samples that are learnt among the legal tokens alone.
    """

    tokenizer: Path
    tokens: int
    real: Path | None = None
    recorded: float = 0.18
    printed: float = 0.2
    asked: float = 0.08
    written: float = 0.1
    piece: int = 0
    rank: int = 0
    ranks: int = 1
    masked: float = 0.0


@dataclass(frozen=True)
class Encoded:
    """A sample as tokens: prompt and answer, where the answer starts, and the masks of its tokens."""

    ids: list[int]
    start: int
    masks: list[bytes] | None


def batches(mix: SampleMix, first: int, stride: int, prose_share: Any) -> Iterator[Batch]:
    """Endless batches of worker `first` of `stride` workers; `prose_share.value` is read before each."""
    codec = Codec.of(load(mix.tokenizer))
    for language in LANGUAGES:
        places(language)  # takes seconds: now, not when prose ends
    rng = random.Random(first)
    pieces = _prose(mix.real, first, stride) if mix.real else []
    known = list(records.read(mix.real / "records.jsonl.xz")) if mix.real else []
    tasks = _task_batches(codec, mix, (known, pieces), (first, stride))
    prose = _prose_batches(codec, pieces, mix.tokens, rng)
    while True:
        yield next(prose if pieces and rng.random() < prose_share.value else tasks)


def _prose(folder: Path, first: int, stride: int) -> list[str]:
    with lzma.open(folder / "prose.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for number, line in enumerate(lines) if number % stride == first]


def _prose_batches(codec: Codec, pieces: list[str], tokens: int, rng: random.Random) -> Iterator[Batch]:
    """Running text, cut into rows of one length wherever the cut falls."""
    rows = max(1, tokens // PROSE_LENGTH)
    stream: list[int] = []
    while pieces:
        rng.shuffle(pieces)
        for start in range(0, len(pieces), _CHUNK):
            for ids in codec.answers(pieces[start : start + _CHUNK]):
                stream += ids
            while len(stream) >= rows * PROSE_LENGTH:
                taken, stream = stream[: rows * PROSE_LENGTH], stream[rows * PROSE_LENGTH :]
                block = np.array(taken, dtype=np.uint16).reshape(rows, PROSE_LENGTH)
                yield Batch(block, np.zeros(rows, np.int32), np.full(rows, PROSE_LENGTH, np.int32))


def _task_batches(
    codec: Codec, mix: SampleMix, real: tuple[list[records.Record], list[str]], share: tuple[int, int]
) -> Iterator[Batch]:
    """Samples in buckets by length; `share` is the number of this worker, and the number of workers."""
    buckets: dict[int, list[Encoded]] = {length: [] for length in LENGTHS}
    grammars = Grammars(mix.tokenizer, codec.end) if mix.masked else None
    rng = random.Random(f"masked:{share[0]}:{mix.piece}")
    for chunk in drawn(mix, *real, *share):
        prompts = codec.prompts([(each.schema, each.text) for each in chunk])
        answers = codec.answers([each.answer_text for each in chunk])
        for sample, prompt, answer in zip(chunk, prompts, answers, strict=True):
            size = len(prompt) + len(answer)
            length = next((length for length in LENGTHS if size <= length), None)
            if length is None:
                continue
            masks = grammars.masks_of(sample.schema, answer) if grammars and rng.random() < mix.masked else None
            buckets[length].append(Encoded(prompt + answer, len(prompt), masks))
            if len(buckets[length]) == mix.tokens // length:
                yield _padded(buckets[length], length, codec.pad, grammars)
                buckets[length] = []


def drawn(
    mix: SampleMix, known: list[records.Record], pieces: list[str], first: int, stride: int
) -> Iterator[list[Sample]]:
    """Chunks of samples: synthetic ones, some of them printed by machines, and ones from records of real documents."""
    rng = random.Random(f"records:{first}:{mix.piece}")
    seed = mix.piece * _PIECE + first * _CHUNK
    asked = mix.asked if pieces else 0
    hand = list(written_records())
    weights = [_DESCRIBED if records.described(record) else 1.0 for record in hand]
    variations = Variations(hand)
    whole = _CHUNK / (1 - mix.printed - asked - mix.written - (mix.recorded if known else 0))
    while True:
        chunk = [*samples(seed, _CHUNK, "train")]
        seed += stride * _CHUNK
        taken = rng.choices(known, k=round(whole * mix.recorded)) if known else []
        made = (printed(rng, pieces) for _ in range(round(whole * mix.printed)))
        read = (passage(rng, pieces) for _ in range(round(1.5 * whole * asked)))  # some have nothing to ask
        varied = (variations.draw(record, rng) for record in rng.choices(hand, weights, k=round(whole * mix.written)))
        found = (draw_sample(record, rng) for record in (*taken, *made, *read, *varied) if record is not None)
        chunk += [each for each in found if each is not None]
        yield [classified(surrounded(worn(each, rng), pieces, rng), rng) for each in chunk]


def _padded(rows: list[Encoded], length: int, pad: int, grammars: Grammars | None) -> Batch:
    ids = np.full((len(rows), length), pad, dtype=np.uint16)
    for place, row in zip(ids, rows, strict=True):
        place[: len(row.ids)] = row.ids
    starts = np.array([row.start for row in rows], dtype=np.int32)
    ends = np.array([len(row.ids) for row in rows], dtype=np.int32)
    if grammars is None:
        return Batch(ids, starts, ends)
    masks = grammars.joined([row.masks for row in rows], [row.start for row in rows], length)
    return Batch(ids, starts, ends, masks)


def _work(mix: SampleMix, first: int, stride: int, prose_share: Any, queue: Any) -> None:
    for batch in batches(mix, first, stride, prose_share):
        while True:
            try:
                queue.put(batch, timeout=60)
                break
            except Full:
                continue


@dataclass(frozen=True)
class Feed:
    """The workers and the queue they fill; the trainer sets `prose_share`, the share of batches with prose."""

    queue: Any
    prose_share: Any
    workers: tuple[Any, ...]

    def batch(self) -> Batch:
        """The next batch. Raises RuntimeError where a worker has ended: without it, kinds of documents would be missing."""
        while True:
            try:
                found: Batch = self.queue.get(timeout=5)
                return found
            except Empty:
                self.check()

    def check(self) -> None:
        """Raises RuntimeError where a worker has ended."""
        ended = [worker.name for worker in self.workers if not worker.is_alive()]
        if ended:
            raise RuntimeError(f"workers ended, their errors are above: {', '.join(ended)}")


def start(mix: SampleMix, workers: int, depth: int = 64) -> Feed:
    """Start the workers; they are daemons and end with the caller."""
    context = multiprocessing.get_context("spawn")
    queue = context.Queue(maxsize=depth)
    prose_share = context.Value("d", 1.0 if mix.real else 0.0)
    started = tuple(
        context.Process(target=_work, args=(mix, index, workers * mix.ranks, prose_share, queue), daemon=True)
        for index in range(mix.rank * workers, (mix.rank + 1) * workers)
    )
    for worker in started:
        worker.start()
    return Feed(queue, prose_share, started)
