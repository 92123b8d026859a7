"""Average the weights of two models of one shape, of which the second was trained on from the first.

    python -m train_embedded.average engine/embedded run/last --share 0.5 --out averaged

The second model knows more kinds of documents, the first has seen the other kinds longer; their average answers both
better than either (Wortsman et al. 2022, "Robust fine-tuning of zero-shot models"). Either may be quantised to 8 bits.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from .model import Shape, save, weights_of


def average(first: Path, second: Path, share: float, out: Path, kept: Sequence[str] = ()) -> None:
    """Write `1 - share` of the weights of `first` plus `share` of those of `second`, in bf16.

    Weights with one of the texts `kept` in their names stay those of `first`.

    Raises ValueError where their shapes differ.
    """
    config = json.loads((first / "config.json").read_text(encoding="utf-8"))
    other = json.loads((second / "config.json").read_text(encoding="utf-8"))
    names = Shape.__dataclass_fields__.keys()
    sizes = {name: config[name] for name in names}
    if sizes != {name: other[name] for name in names}:
        raise ValueError(f"{first} and {second} have different shapes")
    new = weights_of(second)
    mixed = {
        name: weight.float().lerp(new[name].float(), 0.0 if any(part in name for part in kept) else share)
        for name, weight in weights_of(first).items()
    }
    save(out, Shape(**sizes), mixed, config["eos_token_id"], config["pad_token_id"])


def main() -> None:
    parser = argparse.ArgumentParser(description="Average the weights of two models.")
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--share", type=float, default=0.5, help="of the second model")
    parser.add_argument(
        "--keep", nargs="+", default=(), metavar="TEXT", help="weights of the first model, by parts of names"
    )
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    if not 0 <= chosen.share <= 1:
        parser.error("--share is between 0 and 1")
    average(chosen.first, chosen.second, chosen.share, chosen.out, chosen.keep)


if __name__ == "__main__":
    main()
