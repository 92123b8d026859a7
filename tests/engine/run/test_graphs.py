"""Which numbers of tokens are captured."""

from intaglio.engine.run.graphs import sizes, worthwhile


def test_padding_costs_a_fifth_at_most() -> None:
    captured = sizes(1024)
    assert captured[-1] == 1024
    for tokens in range(1, 1025):
        size = next(size for size in captured if size >= tokens)
        assert size - tokens <= max(7, size / 5)
    assert sizes(70) == (*captured[:11], 70)


def test_a_size_that_takes_longer_than_a_larger_one_is_left_out() -> None:
    times = {1: 4.0, 2: 4.1, 544: 11.1, 560: 13.5, 576: 11.5, 592: 11.5, 608: 12.0}
    assert worthwhile(times) == (1, 2, 544, 592, 608)
    assert worthwhile({8: 1.0}) == (8,)
