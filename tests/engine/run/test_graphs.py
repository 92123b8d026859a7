"""Which numbers of tokens are captured."""

from intaglio.engine.run.cuda.graphs import sizes


def test_padding_costs_a_fifth_at_most() -> None:
    captured = sizes(1024)
    assert captured[-1] == 1024
    for tokens in range(1, 1025):
        size = next(size for size in captured if size >= tokens)
        assert size - tokens <= max(7, size / 5)
    assert sizes(70) == (*captured[:11], 70)
