"""The number of tokens of a step from measured costs, and the sequences that wait."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.plan import Forced, SampledBatch, SampledToken, StepCosts
from intaglio.engine.run.cuda.graphs import sizes
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.batch_sizing import FIXED, GAIN, LEAST, BatchSizer, best_sizes
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.sequence import SeqState, Sequence
from intaglio.engine.types import Request, SamplingParams

SIZES = sizes(1024)
H200 = StepCosts(
    # An 8B model: little more than its weights up to 64 tokens, then by tiles of 128.
    (
        *((size, 3.6e-3 + size * 2e-6) for size in SIZES if size <= 64),
        *((128, 4.3e-3), (192, 5.5e-3), (256, 5.7e-3), (288, 7.2e-3), (512, 9.46e-3)),
        *((576, 11.5e-3), (608, 11.99e-3), (640, 12.19e-3), (1024, 18.2e-3)),
    ),
    longest=8,
)
SEVEN = StepCosts(((5, 1.0), (7, 1.0), (8, 3.0), (16, 9.0)), longest=4)
"""Eight tokens cost three times what seven do."""


@st.composite
def any_costs(draw: st.DrawFn) -> StepCosts:
    measured = draw(st.lists(st.integers(1, 200), min_size=1, max_size=12, unique=True))
    seconds = st.floats(1e-5, 1.0)
    return StepCosts(tuple((size, draw(seconds)) for size in sorted(measured)), longest=8)


@given(any_costs())
def test_a_portion_is_most_of_what_there_is(costs: StepCosts) -> None:
    found = best_sizes(costs)
    assert len(found) == costs.seconds[-1][0] + 1
    whole = {size for size, _ in costs.seconds}
    for available, portion in enumerate(found):
        assert LEAST * available <= portion <= available
        assert portion == available or portion in whole


@given(any_costs())
def test_nobody_waits_but_for_a_better_rate(costs: StepCosts) -> None:
    def seconds(tokens: int) -> float:
        return next(seconds for size, seconds in costs.seconds if size >= tokens)

    for available, portion in enumerate(best_sizes(costs)):

        def rate(tokens: int, of: int = available) -> float:
            rest = FIXED + (1 - FIXED) * tokens / of
            return tokens / (seconds(tokens) + seconds(of) * rest)

        best = max([rate(n) for n in range(1, available + 1) if n >= LEAST * available], default=0)
        if portion < available:
            assert rate(available) < (1 - GAIN) * best <= rate(portion)


@given(
    st.floats(1e-6, 1e-2),
    st.floats(0, 0.99),
    st.randoms(use_true_random=False),
)
def test_costs_in_proportion_and_their_noise_hold_nobody_up(
    scale: float, flatness: float, noise: Random
) -> None:
    """Of a size that was captured, whether twice the tokens cost twice as much or less."""
    seconds = (
        scale * ((1 - flatness) * size + flatness) * noise.uniform(0.99, 1.01) for size in SIZES
    )
    found = best_sizes(StepCosts(tuple(zip(SIZES, seconds, strict=True)), 8))
    assert all(found[size] == size for size in SIZES)


@pytest.mark.parametrize(
    ("available", "portion"),
    [(577, 512), (608, 608), (640, 640), (512, 512), (288, 256), (64, 64), (33, 33), (9, 9)],
)
def test_tiles_of_a_large_model(available: int, portion: int) -> None:
    assert best_sizes(H200)[available] == portion


def test_a_small_model_computes_all() -> None:
    """Its products come in tiles as well, but they are a quarter of a step."""
    tiles = tuple((size, 0.5e-3 + -(-size // 128) * 0.5e-3) for size in SIZES)
    assert best_sizes(StepCosts(tiles, 8))[448:513] == tuple(range(448, 513))


def a_sequence(number: int, pending: int) -> Sequence:
    request = Request(id=str(number), prompt=(5,) * 9, sampling=SamplingParams(max_tokens=999))
    seq = Sequence(number, request, (0.0, number), 0.0)
    seq.state = SeqState.RUNNING
    seq.computed = 9 - pending
    return seq


def numbers(sequences: list[Sequence]) -> list[int]:
    return [seq.id for seq in sequences]


def test_turns_go_round() -> None:
    eight = [a_sequence(number, 1) for number in range(8)]
    turns = BatchSizer(SEVEN)
    waiting = [(set(range(8)) - set(numbers(turns.of(eight)))).pop() for _ in range(20)]
    assert waiting == [step % 8 for step in range(20)]


def test_whole_sequences_wait_and_make_the_size() -> None:
    """The first has three tokens: it cannot wait for one."""
    turns = BatchSizer(SEVEN)
    six = [a_sequence(0, 3), *(a_sequence(number, 1) for number in range(1, 6))]
    assert numbers(turns.of(six)) == [0, 2, 3, 4, 5]
    twos = [a_sequence(number, 2) for number in range(4)]
    assert turns.of(twos) == twos


def test_all_go_on_where_no_graph_serves_or_nothing_was_measured() -> None:
    eight = [a_sequence(number, 1) for number in range(8)]
    long = [a_sequence(9, 5), *eight[:3]]
    many = [a_sequence(number, 1) for number in range(17)]
    for all_of_them in (eight[:7], long, many, []):
        assert BatchSizer(SEVEN).of(all_of_them) == all_of_them
    assert BatchSizer().of(eight) == eight


def test_who_has_nothing_to_do_is_not_counted() -> None:
    done = a_sequence(8, 1)
    while done.pending:
        done.compute(1)
    seven = [a_sequence(number, 1) for number in range(7)]
    assert BatchSizer(SEVEN).of([*seven, done]) == [*seven, done]


def test_512_sequences_of_577_tokens_all_get_on() -> None:
    """The grammar forces a token after every eighth sample: about the same number of sequences wait, never the same."""
    turns = BatchSizer(H200)
    scheduler = Scheduler(
        SchedulerConfig(max_running=512, max_batched_tokens=4096),
        KVManager(BlockPool(4096), 16),
        RequestLimits(max_context=256, vocab_size=100, end_tokens=frozenset()),
        lambda: 0.0,
        turns,
    )
    sampling = SamplingParams(max_tokens=200)
    requests = [Request(id=str(n), prompt=(5,) * 3, sampling=sampling) for n in range(512)]
    ids = [scheduler.add(request) for request in requests]
    known: dict[int, list[int]] = {seq_id: [5] * 3 for seq_id in ids}
    computed, steps, held = Counter(dict.fromkeys(ids, 0)), 60, 0
    dice, before = Random(3), set[int]()
    for step in range(steps):
        plan = scheduler.plan()
        working = {work.seq_id for work in plan.works}
        assert not (set(ids) - working) & before
        before = set(ids) - working
        held += bool(before)
        assert plan.token_count == 512 or not before
        samples, forced = [], {}
        for work in plan.works:
            assert work.start == computed[work.seq_id]
            assert list(work.tokens) == known[work.seq_id][work.start : work.end]
            assert work.end == len(known[work.seq_id])
            computed[work.seq_id] = work.end
            after = (9,) if dice.random() < 1 / 8 else ()
            known[work.seq_id] += [step % 90, *after]
            samples.append(SampledToken(work.seq_id, (step % 90,)))
            if after:
                forced[work.seq_id] = after
        scheduler.commit(plan, SampledBatch(tuple(samples)), Forced(forced, {}))
        scheduler.check()
    assert held > steps // 2
    assert min(computed.values()) > 0.7 * max(computed.values())
