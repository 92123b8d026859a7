"""What is kept of rows: within its bound, the older given up first, and never many at once."""

from dataclasses import dataclass

from intaglio.grammar.mask.row_cache import RowCache


@dataclass(eq=False)
class Piece:
    """Something of a size."""

    nbytes: int = 10
    dropped: bool = False

    def drop(self) -> None:
        self.dropped = True


def test_memory_stays_within_the_bound_and_what_is_used_stays() -> None:
    kept: RowCache[Piece] = RowCache(1_000)
    used = Piece()
    kept.put("used", used)
    made = [Piece() for _ in range(500)]
    for number, piece in enumerate(made):
        kept.put(number, piece)
        assert kept.get("used") is used
        assert kept.nbytes <= 1_000 + 2 * used.nbytes
    assert not used.dropped
    assert kept.get(499) is made[499]
    assert kept.get(0) is None
    assert sum(not piece.dropped for piece in made) <= 150


def test_little_goes_at_once() -> None:
    kept: RowCache[Piece] = RowCache(4_000)
    made = [Piece() for _ in range(2_000)]
    gone = 0
    for number, piece in enumerate(made):
        kept.put(number, piece)
        before, gone = gone, sum(piece.dropped for piece in made)
        assert gone - before <= 8
    assert gone > 1_200
