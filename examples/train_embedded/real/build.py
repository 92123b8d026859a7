"""Write the prose and the records that the model learns from, out of clones of the sources.

    python -m train_embedded.real.build --clones CLONES --out build/real --apart dev.jsonl

`CLONES` holds a clone of each repository of `manifest.SOURCES` in a folder `owner__name`. A source without a clone is
named and left out. Texts that share eight words in a row with a document of the files after `--apart` are dropped.
`manifest.json` in the output says what was read: repository, commit, licence, bytes, checksums.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from .apart import Apart
from .clones import Clone
from .manifest import SOURCES, Source
from .records import Record, write

LEAST_PROSE = 300
LONGEST_PIECE = 40_000
MOST_PROSE = 8_000_000  # characters of one source: laws alone would be most of the text


def paragraphs(text: str, seen: set[bytes]) -> str:
    """The paragraphs of `text` that no earlier text had; short ones always stay."""
    kept = []
    for paragraph in text.split("\n\n"):
        if len(paragraph) > 80:
            key = hashlib.blake2b(paragraph.encode(), digest_size=8).digest()
            if key in seen:
                continue
            seen.add(key)
        kept.append(paragraph)
    return "\n\n".join(kept)


def prose(source: Source, clone: Clone, seen: set[bytes]) -> Iterator[str]:
    """Clean pieces of text, none twice."""
    for _, text in clone.texts(source.files) if source.files else ():
        clean = paragraphs(source.prose(text), seen)
        if len(clean) < LEAST_PROSE:
            continue
        yield from (clean[start : start + LONGEST_PIECE] for start in range(0, len(clean), LONGEST_PIECE))


def sample(pieces: list[str]) -> list[str]:
    """As many of the pieces as `MOST_PROSE` allows, chosen at random."""
    random.Random(0).shuffle(pieces)
    sizes = accumulate(len(piece) for piece in pieces)
    return [piece for piece, total in zip(pieces, sizes, strict=True) if total <= MOST_PROSE]


def records(source: Source, clone: Clone) -> Iterator[Record]:
    """All records that the readers of a source find."""
    for pattern, reader in source.readers:
        for path, text in clone.texts((pattern,)):
            found = None if path in source.left_out else reader(path, text)
            if isinstance(found, Record):
                yield found
            elif found is not None:
                yield from found


@dataclass(frozen=True)
class Yield:
    """What one source gave: pieces of prose, records, and the commit of its clone."""

    commit: str
    pieces: list[str]
    records: list[Record]


def gather(clones: Path, source: Source) -> Yield | None:
    """The prose and the records of one source; None where it has no clone."""
    folder = clones / source.repository.replace("/", "__")
    if not folder.exists():
        return None
    clone = Clone(folder)
    return Yield(clone.commit(), sample(list(prose(source, clone, set()))), list(records(source, clone)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Build prose and records out of clones.")
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--apart", type=Path, nargs="*", default=(), help="evaluation records with a text each")
    parser.add_argument("--processes", type=int, default=2, help="sources that are read at the same time")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    apart = Apart.of(chosen.apart)
    seen: set[bytes] = set()
    pieces: list[str] = []
    found: dict[str, Record] = {}
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(chosen.processes) as pool:
        for source, got in zip(SOURCES, pool.map(partial(gather, chosen.clones), SOURCES), strict=True):
            if got is None:
                print(f"{source.repository}: no clone, left out")
                continue
            texts = [text for text in (paragraphs(piece, seen) for piece in got.pieces) if len(text) >= LEAST_PROSE]
            pieces += [text for text in texts if apart.keeps(text)]
            found |= {record.text: record for record in got.records if apart.keeps(record.text)}
            size = sum(len(text.encode()) for text in texts)
            row = {"repository": source.repository, "commit": got.commit, "licence": source.licence}
            rows.append({**row, "prose_bytes": size, "records": len(got.records)})
            print(f"{source.repository}: {size / 1e6:.1f} MB of prose, {len(got.records)} records", flush=True)
    random.Random(1).shuffle(pieces)
    with lzma.open(chosen.out / "prose.jsonl.xz", "wt", encoding="utf-8", preset=6) as out:
        out.writelines(json.dumps(piece, ensure_ascii=False) + "\n" for piece in pieces)
    shuffled = list(found.values())
    random.Random(2).shuffle(shuffled)
    write(chosen.out / "records.jsonl.xz", shuffled)
    files = {
        name: hashlib.sha256((chosen.out / name).read_bytes()).hexdigest()
        for name in ("prose.jsonl.xz", "records.jsonl.xz")
    }
    (chosen.out / "manifest.json").write_text(json.dumps({"sources": rows, "sha256": files}, indent=1) + "\n")
    print(Counter(record.source for record in shuffled))


if __name__ == "__main__":
    main()
