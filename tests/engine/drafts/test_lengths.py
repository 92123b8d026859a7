"""Draft lengths give the most expected tokens per second of all lengths; where none gains enough, there are none."""

from itertools import accumulate, product
from operator import mul

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.drafts.lengths import GAIN, DraftLengths
from intaglio.engine.plan import StepCosts

chances = st.lists(st.floats(0.01, 0.98), max_size=4).map(lambda one: list(accumulate(one, mul)))


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=12),
    st.lists(chances, min_size=1, max_size=3),
    st.integers(0, 12),
)
def test_no_other_lengths_are_better(
    rises: list[float], drafts: list[list[float]], room: int
) -> None:
    seconds = list(accumulate(rises, initial=1.0))
    lengths = DraftLengths(StepCosts(tuple(enumerate(seconds, 1)), longest=len(seconds)))
    count = len(drafts)

    def rate(chosen: tuple[int, ...]) -> float:
        gained = sum(sum(one[:length]) for one, length in zip(drafts, chosen, strict=True))
        return (count + gained) / lengths.seconds(count + sum(chosen))

    found = lengths.chosen(count, count, dict(enumerate(drafts)), room)
    everything = [
        chosen
        for chosen in product(*[range(len(one) + 1) for one in drafts])
        if sum(chosen) <= room
    ]
    best, plain = max(map(rate, everything)), rate((0,) * count)
    got = tuple(found.get(number, 0) for number in range(count))
    assert got in everything
    if found:
        assert rate(got) >= best * (1 - 1e-9)
        assert best >= plain * GAIN * (1 - 1e-9)
    else:
        assert best <= plain * GAIN * (1 + 1e-9)


def test_where_every_token_costs_the_same_nothing_is_drafted_or_looked_for() -> None:
    linear = DraftLengths(StepCosts(tuple((n, float(n)) for n in (1, 8, 64)), longest=64))
    assert not linear.may_pay(1, 1)
    assert not linear.chosen(1, 1, {0: [0.98, 0.96]}, 9)
    assert linear.seconds(640) == 640


def test_a_device_that_is_full_is_left_alone() -> None:
    """Costs of a matrix product: the weights are read once, then every token costs the same."""
    costs = DraftLengths(StepCosts(tuple((n, max(16.0, n)) for n in range(1, 129)), longest=128))
    assert costs.may_pay(1, 1)
    assert costs.may_pay(8, 8)
    assert not costs.may_pay(64, 64)
    assert not costs.may_pay(512, 512)


def test_costs_that_fall_are_taken_for_noise() -> None:
    costs = DraftLengths(StepCosts(((1, 5.0), (2, 3.0), (4, 8.0)), longest=4))
    assert [costs.seconds(n) for n in (1, 2, 3, 4)] == [5.0, 5.0, 6.5, 8.0]
