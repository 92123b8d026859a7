"""Random drafts and sampled tokens, and the accepted drafts by a plain loop."""

import random
from dataclasses import dataclass
from itertools import pairwise

import torch
from intaglio.kernels.sampling_contracts import NOT_FINITE, NOTHING_LEGAL, OK, Sampled
from intaglio.kernels.verified import Verified


@dataclass(frozen=True)
class Drafted:
    """Arguments of `verify`."""

    drawn: Sampled
    given: torch.Tensor
    starts: torch.Tensor

    def to(self, device: str) -> "Drafted":
        drawn = Sampled(self.drawn.tokens.to(device), self.drawn.status.to(device))
        return Drafted(drawn, self.given.to(device), self.starts.to(device))


def random_drafts(seed: int, sequences: int, longest: int, dtype: torch.dtype) -> Drafted:
    """Sequences of 0 to `longest` rows among rows of no sequence. Most drafts are right, some rows are bad."""
    dice = random.Random(seed)
    before = dice.choice((0, 0, 3))
    counts = [dice.choice((0, 1, 2, dice.randint(0, longest))) for _ in range(sequences)]
    rows = before + sum(counts) + dice.choice((0, 1, 5)) or 1
    right = dice.choice((0.5, 0.9, 1.0))
    bad = dice.choice((0.0, 0.1))
    tokens = [dice.randrange(4) for _ in range(rows)]
    status = [
        dice.choice((NOT_FINITE, NOTHING_LEGAL)) if dice.random() < bad else OK for _ in range(rows)
    ]
    given = [tokens[r - 1] if dice.random() < right else dice.randrange(-1, 4) for r in range(rows)]
    starts = torch.tensor([before, *counts]).cumsum(0)
    return Drafted(
        Sampled(torch.tensor(tokens, dtype=torch.int64), torch.tensor(status, dtype=torch.int64)),
        torch.tensor(given, dtype=dtype),
        starts.to(dtype),
    )


def accepted(case: Drafted) -> list[tuple[int, int, int]]:
    """(accepted, token, status) of each sequence, one row after the other."""
    tokens, status = case.drawn.tokens.tolist(), case.drawn.status.tolist()
    given, starts = case.given.tolist(), case.starts.tolist()
    found = []
    for begin, end in pairwise(starts):
        answer = (0, 0, NOTHING_LEGAL)
        for row in range(begin, end):
            answer = (row - begin, tokens[row], status[row])
            if status[row] != OK or row + 1 == end or given[row + 1] != tokens[row]:
                break
        found.append(answer)
    return found


def answers(got: Verified) -> list[tuple[int, int, int]]:
    assert [t.dtype for t in (got.accepted, got.tokens, got.status)] == [
        torch.int32,
        torch.int64,
        torch.int64,
    ]
    columns = got.accepted.tolist(), got.tokens.tolist(), got.status.tolist()
    return list(zip(*columns, strict=True))
