"""Turns of the tenants among waiting sequences: deficit round robin over tokens (Shreedhar and Varghese 1995).

Does: choose the tenant of the next sequence that starts, and account for the tokens that sequences cost. Does not: know
lanes, room or places.

Tenants are visited in a ring. A visit gives a tenant `QUANTUM` tokens times its weight; its sequences start, best rank
first, as long as its tokens pay for them. A start is charged by an estimate, which is corrected at the end by the
tokens that were used. While two tenants have sequences waiting, the tokens that they were charged, divided by their
weights, differ by at most `QUANTUM` plus the largest charge of each. A tenant without waiting sequences saves no
tokens; a debt remains until enough turns of the ring have paid it.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..errors import InternalError
from ..sequence import Sequence
from .queue import Ranked

QUANTUM = 512.0
OUTPUT_WEIGHT = 2
"""An output token costs as much as two prompt tokens."""

_FEW_DEBTS = 64


def cost(prompt_tokens: int, output_tokens: int) -> float:
    """The tokens that a sequence of that size is charged."""
    return float(prompt_tokens + OUTPUT_WEIGHT * output_tokens)


@dataclass(slots=True)
class _Share:
    """The waiting sequences of one tenant, and the tokens that it may spend; negative for a debt."""

    tokens: float
    waiting: Ranked = field(default_factory=Ranked)


class TenantTurns:
    """Waiting sequences by tenant. Preempted sequences had their turn: they come first, by rank, and cost nothing."""

    def __init__(self) -> None:
        self._again = Ranked()
        self._shares: dict[str, _Share] = {}
        self._ring: deque[str] = deque()
        self._visited = False  # whether the first tenant of the ring has got its tokens
        self._rounds = 0.0
        self._debts: dict[
            str, tuple[float, float]
        ] = {}  # negative tokens, and the round of the last change

    def __len__(self) -> int:
        return len(self._again) + sum([len(share.waiting) for share in self._shares.values()])

    def __iter__(self) -> Iterator[Sequence]:
        yield from self._again
        for tenant in self._ring:
            yield from self._shares[tenant].waiting

    @property
    def tenants(self) -> int:
        """The number of tenants with sequences that wait for their first turn."""
        return len(self._shares)

    def add(self, seq: Sequence) -> None:
        """Insert a sequence that waits: for its turn, or again."""
        if seq.record.admitted is not None:
            self._again.add(seq)
            return
        tenant = seq.request.tenant
        share = self._shares.get(tenant)
        if share is None:
            share = self._shares[tenant] = _Share(self._debt(tenant))
            self._debts.pop(tenant, None)
            self._ring.append(tenant)
        share.waiting.add(seq)

    def discard(self, seq: Sequence) -> None:
        """Remove a waiting sequence without charging it."""
        if seq.record.admitted is not None:
            self._again.discard(seq)
            return
        share = self._share_of(seq)
        share.waiting.discard(seq)
        if not share.waiting:
            self._leave(seq.request.tenant, share)

    def first(self, may_start: Callable[[str], bool]) -> Sequence | None:
        """The sequence that starts next, of the tenants that may start one; None if there is none.

        The same sequence until it starts or is discarded, or one with a better claim is added.
        """
        if self._again:
            return self._again[0]
        able = {tenant for tenant in self._ring if may_start(tenant)}
        if not able:
            return None
        while True:
            tenant = self._ring[0]
            share = self._shares[tenant]
            if tenant in able:
                head = share.waiting[0]
                if not self._visited:
                    share.tokens += QUANTUM * head.request.weight
                    self._visited = True
                if share.tokens >= head.record.charge:
                    return head
            self._next_tenant()

    def start(self, seq: Sequence) -> None:
        """Remove a sequence that starts, and charge its tenant."""
        if seq.record.admitted is None:
            self._share_of(seq).tokens -= seq.record.charge
        self.discard(seq)

    def settle(self, seq: Sequence) -> None:
        """Correct the charge of a sequence that has ended after it had started."""
        used = cost(len(seq.request.prompt), seq.output_tokens)
        tenant, more = seq.request.tenant, used - seq.record.charge
        share = self._shares.get(tenant)
        if share is not None:
            share.tokens -= more
            return
        left = self._debt(tenant) - more
        if left < 0:
            self._debts[tenant] = left, self._rounds
            self._forget_debts()

    def check(self) -> None:
        """Raise `InternalError` if the ring and the shares differ, or a tenant without sequences is in them."""
        if sorted(self._ring) != sorted(self._shares):
            raise InternalError("the ring of tenants is not that of their shares")
        if not all(share.waiting for share in self._shares.values()):
            raise InternalError("a tenant has a share and nothing that waits")
        for tenant, share in self._shares.items():
            if any(seq.request.tenant != tenant for seq in share.waiting):
                raise InternalError(f"a sequence waits in the share of tenant {tenant!r}")

    def _share_of(self, seq: Sequence) -> _Share:
        share = self._shares.get(seq.request.tenant)
        if share is None:
            raise InternalError(f"sequence {seq.id} does not wait for a turn")
        return share

    def _leave(self, tenant: str, share: _Share) -> None:
        """Remove a tenant for which nothing waits; only its debt stays."""
        if self._ring[0] == tenant:
            self._visited = False
        self._ring.remove(tenant)
        del self._shares[tenant]
        if share.tokens < 0:
            self._debts[tenant] = share.tokens, self._rounds

    def _next_tenant(self) -> None:
        self._ring.rotate(-1)
        self._rounds += 1 / len(self._ring)
        self._visited = False

    def _debt(self, tenant: str) -> float:
        """The present debt of a tenant without waiting sequences, as negative tokens."""
        tokens, since = self._debts.get(tenant, (0.0, 0.0))
        return min(0.0, tokens + QUANTUM * (self._rounds - since))

    def _forget_debts(self) -> None:
        if len(self._debts) > _FEW_DEBTS:
            self._debts = {
                tenant: debt for tenant, debt in self._debts.items() if self._debt(tenant) < 0
            }
