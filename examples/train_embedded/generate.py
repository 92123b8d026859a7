"""One synthetic sample for a seed: document, schema, answer.

    python -m train_embedded.generate --split heldout --seed 7 --count 3

The same seed and split give the same sample, on every machine and in any order.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .draft import decide
from .draw import Draw, Split
from .kinds import KINDS
from .layout import lay_out
from .scenes import SCENES, compose, statements
from .schema import answer_text, ask


@dataclass(frozen=True)
class Sample:
    """A document, the schema asked of it, and the one right answer."""

    kind: str
    schema: dict[str, Any]
    text: str
    answer: dict[str, Any]

    @property
    def answer_text(self) -> str:
        return answer_text(self.answer)


_WEIGHTS = [kind.weight for kind in KINDS]
_SCENE_WEIGHTS = [scene.weight for scene in SCENES]
SCENIC = 0.55
"""The share of scenes among the documents; the others are laid out from facts."""
STATED = 0.25
"""The share of plain statements among the scenes."""


def sample(seed: int, split: Split) -> Sample:
    """The sample of a seed. Training seeds and held-out seeds name different samples."""
    rng = random.Random(f"{split}:{seed}")
    return _scenic(rng, split) if rng.random() < SCENIC else _laid_out(rng, split)


def _scenic(rng: random.Random, split: Split) -> Sample:
    scene = rng.choices(SCENES, _SCENE_WEIGHTS)[0] if rng.random() > STATED else None
    while True:
        draw = Draw(rng, split, scene.language if scene else "en")
        content, text = compose(draw, scene) if scene else statements(draw)
        schema, answer = ask(draw, content)
        if answer and text.strip():
            return Sample(scene.kind if scene else "statements", schema, text, answer)


def _laid_out(rng: random.Random, split: Split) -> Sample:
    kind = rng.choices(KINDS, _WEIGHTS)[0]
    while True:
        draw = Draw(rng, split, rng.choice(kind.languages))
        content = decide(draw, kind.make(draw))
        text = lay_out(draw, content)
        schema, answer = ask(draw, content)
        if answer and text.strip():
            return Sample(kind.name, schema, text, answer)


def samples(first: int, count: int, split: Split) -> Iterator[Sample]:
    """`count` samples of consecutive seeds."""
    for seed in range(first, first + count):
        yield sample(seed, split)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--split", choices=("train", "heldout"), default="train")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    chosen = parser.parse_args()
    for each in samples(chosen.seed, chosen.count, chosen.split):
        record = {"kind": each.kind, "schema": each.schema, "text": each.text, "expected": each.answer}
        print(json.dumps(record, ensure_ascii=False))


if __name__ == "__main__":
    main()
