"""Sampling options of sequences as arrays, against the same options row by row."""

import random

import numpy as np
import pytest
from intaglio.engine.plan import PLACEHOLDER, Admitted, Masks, Plan, Replay, Work
from intaglio.engine.run.batch import BatchBuilder
from intaglio.engine.run.sampler import Sampler
from intaglio.engine.run.slots import SlotState
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import empty_rows

ROWS, WORD = 9, (1 << 64) - 1


def drawn_by(seed: int, position: int) -> list[int]:
    """SplitMix64, number `position` of the sequence that the mixed seed begins, as two halves."""

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
        return z ^ (z >> 31)

    word = mix(mix(seed) + (position + 1) * 0x9E3779B97F4A7C15 & WORD)
    return [word >> 32, word & 0xFFFFFFFF]


@pytest.mark.parametrize("seed", range(30))
def test_a_choice_says_what_each_sequence_asks_for(seed: int) -> None:
    dice = random.Random(seed)
    rows = SlotState(ROWS, 64, 16)
    asked = {
        seq_id: SamplingParams(
            temperature=dice.choice([0, 0.7]),
            seed=dice.choice([dice.randrange(100), dice.randrange(1 << 63)]),
            top_k=dice.choice([0] * 9 + [5]),
            logprobs=dice.choice([None] * 9 + [3]),
        )
        for seq_id in dice.sample(range(1000), dice.randint(1, ROWS))
    }
    prompts = {seq_id: tuple(range(dice.randint(1, 30))) for seq_id in asked}
    works = [Work(s, 0, prompts[s], (), dice.random() < 0.7) for s in asked]
    works[0] = Work(works[0].seq_id, 0, works[0].tokens, (), logits=1)
    admitted = tuple(Admitted(s, prompts[s], len(prompts[s]), (1, 2), asked[s]) for s in asked)
    batch = BatchBuilder(rows, 512, ROWS, 16).build(Plan(1, admitted, tuple(works)))
    picking = [work.seq_id for work in works if work.logits]
    kinds = {s: dice.choice(["free", "host", "walked"][: 1 + seed % 3]) for s in picking}
    host = [s for s in picking if kinds[s] == "host"]
    walked = {s for s in picking if kinds[s] == "walked"}
    told = {s: Replay("g", b"x") for s in sorted(walked)[:2]}
    masks = Masks(
        empty_rows(len(host), 40), {s: i for i, s in enumerate(host)}, frozenset(walked), told
    )
    count = dice.randint(len(picking), ROWS + 3)
    inputs = Sampler(rows).inputs(batch, masks, count)

    spare = [0] * (count - len(picking))
    from_mask = [
        i if kinds[s] == "walked" else count + host.index(s) if kinds[s] == "host" else -1
        for i, s in enumerate(picking)
    ]
    walks = [rows.row_of[s] if s in walked else -1 for s in picking]
    params = [asked[s] for s in picking]
    keys = [drawn_by(p.seed or 0, len(prompts[s])) for s, p in zip(picking, params, strict=True)]
    assert inputs.keys.tolist() == keys + [[0, 0]] * len(spare)
    assert inputs.temperature.tolist() == [np.float32(p.temperature) for p in params] + spare
    assert inputs.mask_rows.tolist() == from_mask + [from_mask[0]] * len(spare)
    assert inputs.walk_rows.tolist() == walks + [-1] * len(spare)
    assert inputs.walks == bool(walked)
    assert inputs.replays == [(rows.row_of[s], one) for s, one in told.items()]
    assert (inputs.truncation is None) == (not any(p.top_k and p.temperature for p in params))
    if inputs.truncation is not None:
        assert inputs.truncation[0].tolist() == [p.top_k for p in params] + spare
    assert (inputs.edits is None) == all(p.logprobs is None for p in params)


def test_what_was_picked_is_read_where_it_is_awaited_and_by_whom() -> None:
    rows = SlotState(3, 64, 16)
    for seq_id in (5, 6, 7):
        rows.admit(Admitted(seq_id, (1, 2, 3), 3, (1,), SamplingParams()))
    where = np.array([rows.row_of[seq_id] for seq_id in (5, 6, 7)])
    rows.tokens[where, 3] = PLACEHOLDER, 8, PLACEHOLDER
    rows.forget(7)
    rows.admit(Admitted(9, (1, 2, 3, PLACEHOLDER), 3, (1,), SamplingParams()))
    rows.read((5, 6, 7), where, np.array([3, 3, 3]), np.array([20, 21, 22, 23]))
    assert rows.tokens[where, 3].tolist() == [20, 8, PLACEHOLDER]
