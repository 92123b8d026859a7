"""The waiting sequences, in two lanes: interactive and bulk.

Does: keep them, and choose the one that starts next. Does not: decide whether there is room for it.

The interactive sequence that is next by turns goes before a bulk one, unless the bulk one has the better rank: it has
then waited `bulk_patience_s`, so that no stream of interactive requests keeps it waiting forever.
"""

from collections.abc import Callable, Iterator

from ..sequence import Sequence
from .tenant_turns import TenantTurns


class WaitingLine:
    """The waiting sequences.

    In each lane tenants take turns of their own, and pay only for the sequences in that lane.
    """

    def __init__(self) -> None:
        self._interactive = TenantTurns()
        self._bulk = TenantTurns()

    def __len__(self) -> int:
        return len(self._interactive) + len(self._bulk)

    def __iter__(self) -> Iterator[Sequence]:
        yield from self._interactive
        yield from self._bulk

    @property
    def tenants(self) -> int:
        """The number of tenants with interactive sequences that wait for their first turn."""
        return self._interactive.tenants

    def first(self, may_start: Callable[[str], bool] = lambda _: True) -> Sequence | None:
        """The sequence that starts next, of the tenants that may start one; None if there is none."""
        interactive, bulk = self._interactive.first(may_start), self._bulk.first(may_start)
        if interactive is None or bulk is None:
            return interactive or bulk
        return bulk if bulk.rank < interactive.rank else interactive

    def add(self, seq: Sequence) -> None:
        """Insert `seq`, which must not be contained."""
        self._lane(seq).add(seq)

    def discard(self, seq: Sequence) -> None:
        """Remove `seq`, which must be contained."""
        self._lane(seq).discard(seq)

    def start(self, seq: Sequence) -> None:
        """Remove `seq`, which starts, and charge its tenant."""
        self._lane(seq).start(seq)

    def settle(self, seq: Sequence) -> None:
        """Correct the charge of `seq`, which has ended after it had started."""
        self._lane(seq).settle(seq)

    def check(self) -> None:
        """Check both lanes. Raises `InternalError`."""
        self._interactive.check()
        self._bulk.check()

    def _lane(self, seq: Sequence) -> TenantTurns:
        return self._bulk if seq.request.bulk else self._interactive
