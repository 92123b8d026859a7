"""Draft lengths give the most expected tokens per second of all lengths; where none gains enough, there are none."""

from itertools import accumulate, product
from operator import mul

from hypothesis import given
from hypothesis import strategies as st
from intaglio.engine.drafts.lengths import GAIN, DraftLengths

chances = st.lists(st.floats(0.01, 0.98), max_size=4).map(lambda one: list(accumulate(one, mul)))


def line(base: float, slope: float) -> DraftLengths:
    return DraftLengths(lambda tokens: base + slope * tokens)


@given(
    st.floats(0.0, 1.0),
    st.lists(chances, min_size=1, max_size=3),
    st.integers(0, 12),
)
def test_no_other_lengths_are_better(slope: float, drafts: list[list[float]], room: int) -> None:
    lengths = line(1.0, slope)
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
    linear = line(0.0, 1.0)
    assert not linear.may_pay(1, 1)
    assert not linear.chosen(1, 1, {0: [0.98, 0.96]}, 9)


def test_a_crowd_is_left_alone() -> None:
    """A step that reads the weights as long as it computes 24 tokens."""
    costs = line(24.0, 1.0)
    assert costs.may_pay(1, 1)
    assert costs.may_pay(8, 8)
    assert not costs.may_pay(256, 256)


def test_steps_in_another_order_are_what_drafts_have_to_beat() -> None:
    """A draft does not pay where a plain step is planned during the one before it, and several do."""
    lengths = DraftLengths(lambda tokens: 1.2 + 0.01 * tokens, lambda tokens: 1.0 + 0.01 * tokens)
    assert not lengths.chosen(1, 1, {0: [0.3]}, 9)
    assert lengths.chosen(1, 1, {0: [0.3, 0.28, 0.26]}, 9) == {0: 3}
