"""Outputs of small grammars, counted over many draws at temperature 1, against their exact probabilities.

    python -m tests.property.exact_draws --grammars 50 --draws 600

A grammar is a random finite set of words, given as a regular expression. The exact probability of a word does not use
masks, drafts or the sampler: it is computed from the model's distributions over all tokens, restricted to the tokens
that continue some word of the set. Pearson's chi-square then compares the counts, with drafts and without, each with
seeds of its own. The drafts are words of the set, right or wrong, and what all other sources propose.
"""

import argparse
import math
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import torch
from intaglio.engine.drafts.lengths import DraftLengths
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind

from tests.property.drafts import BLOCK, CONTEXT, CheckedEngine, Foresight
from tests.support.tiny_checkpoint import QWEN3, random_weights, write_checkpoint

PROMPT = b"Say a word: "
LEAST = 5.0  # expected outputs of a cell; smaller ones share a cell
FLAT = 0.08  # of the last norm, so that the model is unsure
MOST_TOKENS = 24
TOGETHER = 16  # requests, a third of those that fit: the rest is room for drafts

Words = tuple[bytes, ...]


class Fit(NamedTuple):
    """The chance of a deviation at least as large as the one found, and what was found."""

    chance: float
    square: float
    cells: int


@dataclass(frozen=True)
class Outcome:
    """The fits of one grammar without drafts and with them, and the accepted drafts."""

    words: Words
    plain: Fit
    drafted: Fit


def flat_checkpoint(folder: Path) -> Path:
    """A small random model that gives many tokens a chance."""
    weights = random_weights(QWEN3)
    weights["model.norm.weight"] *= FLAT
    return write_checkpoint(folder, QWEN3, weights=weights)


def random_words(rng: Random) -> Words:
    """Four to twelve words that differ late, so that drafts begin before a word is decided; some begin with others."""
    found = set[bytes]()
    for _ in range(rng.randint(4, 12)):
        stem = rng.choice(sorted(found)) if found and rng.random() < 0.3 else b""
        found.add((stem + bytes(rng.choices(b"ab", k=rng.randint(4, 7))))[:9])
    return tuple(sorted(found))


class EveryDraft(DraftLengths):
    """Drafts all that is guessed, even where that saves no time."""

    def __init__(self) -> None:
        super().__init__(lambda _tokens: 1.0)

    def may_pay(self, sequences: int, tokens: int) -> bool:
        return bool(sequences and tokens)

    def chosen(
        self, _sequences: int, _tokens: int, chances: Mapping[int, Sequence[float]], room: int
    ) -> dict[int, int]:
        share = max(1, room // max(1, len(chances)))
        return {seq_id: min(len(falling), share) for seq_id, falling in chances.items()}


class ExactProbabilities:
    """The probability of each word, from distributions that an engine reports for unconstrained requests."""

    def __init__(self, engine: CheckedEngine, vocabulary: int, ends: Sequence[int]) -> None:
        self._engine = engine
        self._vocabulary = vocabulary
        self._ends = ends

    def of(self, words: Words) -> dict[bytes, float]:
        """The probability of each word among `words`."""
        beginnings = sorted({word[:at] for word in words for at in range(len(word) + 1)})
        spread = self._distributions(beginnings)
        chances: dict[bytes, float] = {}
        for word in words:
            chance = 1.0
            for at in range(len(word) + 1):
                here = self._legal(word[:at], words, spread[word[:at]])
                chance *= here[word[at] if at < len(word) else -1]
            chances[word] = chance
        return chances

    def _legal(
        self, beginning: bytes, words: Words, spread: Mapping[int, float]
    ) -> dict[int, float]:
        """The distribution of the next byte, -1 for the end, among those that continue a word."""
        size = len(beginning)
        following = {w[size] for w in words if w.startswith(beginning) and len(w) > size}
        weights = {byte: spread[byte] for byte in following}
        if beginning in words:
            weights[-1] = sum(spread[end] for end in self._ends)
        total = sum(weights.values())
        return {byte: weight / total for byte, weight in weights.items()}

    def _distributions(self, beginnings: Sequence[bytes]) -> dict[bytes, dict[int, float]]:
        """The distribution of the next token after the prompt and each beginning."""
        sampling = SamplingParams(max_tokens=1, logprobs=self._vocabulary, ignore_eos=True)
        requests = [
            Request(id=f"p{number}", prompt=tuple(PROMPT + beginning), sampling=sampling)
            for number, beginning in enumerate(beginnings)
        ]
        answers = self._engine.answers(requests, {})
        found = {}
        for request, beginning in zip(requests, beginnings, strict=True):
            (score,) = answers[request.id].logprobs
            found[beginning] = {token: math.exp(logprob) for token, logprob in score.top}
        return found


def counts(
    engine: CheckedEngine, words: Words, seeds: Sequence[int], drafts: Random | None
) -> Counter[bytes]:
    """How often each word is the output, with one request for each seed."""
    constraint = Constraint(Kind.REGEX, "|".join(word.decode() for word in words))
    requests = [
        Request(
            id=f"s{seed}",
            prompt=tuple(PROMPT),
            sampling=SamplingParams(max_tokens=MOST_TOKENS, temperature=1.0, seed=seed),
            constraint=constraint,
            draft=() if drafts is None else tuple(drafts.choice(words)),
        )
        for seed in seeds
    ]
    return Counter(
        bytes(found.tokens)
        for begin in range(0, len(requests), TOGETHER)
        for found in engine.answers(requests[begin : begin + TOGETHER], {}).values()
    )


def fit(found: Mapping[bytes, int], chances: Mapping[bytes, float]) -> Fit:
    """Pearson's test. Outputs that are no word have probability 0: one of them is a deviation without a chance."""
    total = sum(found.values())
    if found.keys() - chances.keys():
        return Fit(0.0, math.inf, len(chances))
    cells: list[tuple[float, int]] = []
    rest, seen = 0.0, 0
    for word, chance in sorted(chances.items(), key=lambda pair: -pair[1]):
        if chance * total >= LEAST:
            cells.append((chance * total, found.get(word, 0)))
        else:
            rest, seen = rest + chance * total, seen + found.get(word, 0)
    if rest >= LEAST or not cells:
        cells.append((rest, seen))
    elif rest > 0:
        expected, had = cells.pop()
        cells.append((expected + rest, had + seen))
    square = sum((had - expected) ** 2 / expected for expected, had in cells)
    half = torch.tensor([(len(cells) - 1) / 2, square / 2], dtype=torch.float64)
    chance = float(torch.special.gammaincc(half[0], half[1])) if len(cells) > 1 else 1.0
    return Fit(chance, square, len(cells))


def measure(
    folder: Path, grammars: int, draws: int, seed: int = 0, rates: Sequence[float] = ()
) -> tuple[list[Outcome], int]:
    """The fits of random grammars, and the number of accepted drafts; `rates` as in `CheckedEngine`."""
    flat_checkpoint(folder)
    tokenizer, rng = Tokenizer.load(folder), Random(seed)
    blocks = 1 + 24 * CONTEXT // BLOCK
    plain = CheckedEngine(folder, blocks)
    drafted = CheckedEngine(
        folder, blocks, [Foresight(rng)], [folder], lengths=EveryDraft(), rates=rates
    )
    exact = ExactProbabilities(plain, tokenizer.size, tokenizer.end_ids)
    outcomes = []
    try:
        for number in range(grammars):
            words = random_words(rng)
            chances = exact.of(words)
            first = 2 * number * draws
            without = counts(plain, words, range(first, first + draws), None)
            with_drafts = counts(drafted, words, range(first + draws, first + 2 * draws), rng)
            outcomes.append(Outcome(words, fit(without, chances), fit(with_drafts, chances)))
        accepted = sum(drafted.engine.metrics().drafts.accepted.values())
    finally:
        plain.close()
        drafted.close()
    return outcomes, accepted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grammars", type=int, default=50)
    parser.add_argument("--draws", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes, accepted = measure(Path(folder), given.grammars, given.draws, given.seed)
    for name in ("plain", "drafted"):
        fits: list[Fit] = [getattr(outcome, name) for outcome in outcomes]
        chances = sorted(one.chance for one in fits)
        square, freedom = sum(one.square for one in fits), sum(one.cells - 1 for one in fits)
        whole = torch.special.gammaincc(
            torch.tensor(freedom / 2, dtype=torch.float64), torch.tensor(square / 2)
        )
        print(
            f"{name}: {len(fits)} grammars, {given.draws} draws each; least chance {chances[0]:.4f}, "
            f"{sum(c < 0.05 for c in chances)} below 0.05; together chi-square {square:.1f} "
            f"for {freedom} degrees of freedom, chance {float(whole):.3f}"
        )
    print(f"{accepted} accepted drafts")


if __name__ == "__main__":
    main()
