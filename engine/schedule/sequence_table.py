"""All live sequences of the engine, by number, by request and by state.

Does: number sequences, find them, keep the waiting and the running ones in order, find those whose deadline has passed.
Does not: decide which sequence changes its state, or know about memory.
"""

import heapq

from ..errors import InternalError, InvalidRequest
from ..sequence import SeqState, Sequence
from ..types import Request
from .queue import Ranked, rank


class SequenceTable:
    """Live sequences. Numbers are never used twice; request ids only after their request has left.

    `waiting` and `running` are for reading; the moves below change them.
    """

    def __init__(self, ageing_s: float) -> None:
        self.waiting = Ranked()
        self.running = Ranked()
        self._ageing_s = ageing_s
        self._last_id = 0
        self._by_id: dict[int, Sequence] = {}
        self._by_request: dict[str, Sequence] = {}
        self._deadlines: list[
            tuple[float, int]
        ] = []  # a heap; entries of ended sequences are skipped

    def __len__(self) -> int:
        return len(self._by_id)

    def __getitem__(self, seq_id: int) -> Sequence:
        return self._by_id[seq_id]

    def get(self, seq_id: int) -> Sequence | None:
        """The live sequence of that number."""
        return self._by_id.get(seq_id)

    def find(self, request_id: str) -> Sequence | None:
        """The live sequence of that request."""
        return self._by_request.get(request_id)

    def live(self) -> set[int]:
        """The numbers of all live sequences."""
        return set(self._by_id)

    def add(self, request: Request, now: float) -> Sequence:
        """A new sequence for `request`, in the waiting line unless it waits for its grammar.

        Raises:
            InvalidRequest: a live request has that id.
        """
        if request.id in self._by_request:
            raise InvalidRequest(f"the id {request.id!r} is in use", where="id")
        self._last_id += 1
        seq_id = self._last_id
        seq = Sequence(seq_id, request, rank(request, seq_id, now, self._ageing_s), now)
        self._by_id[seq_id] = seq
        self._by_request[request.id] = seq
        if request.deadline is not None:
            heapq.heappush(self._deadlines, (now + request.deadline, seq_id))
        if seq.state is SeqState.WAITING:
            self.waiting.add(seq)
        return seq

    def unpark(self, seq: Sequence) -> None:
        """The grammar of `seq` has arrived: it joins the line at the place of its arrival."""
        seq.grammar_arrived()
        self.waiting.add(seq)

    def admit(self, seq: Sequence, now: float, computed: int) -> None:
        """From waiting to running."""
        self.waiting.discard(seq)
        seq.admit(now, computed)
        self.running.add(seq)

    def preempt(self, seq: Sequence) -> None:
        """From running back to waiting."""
        self.running.discard(seq)
        seq.preempt()
        self.waiting.add(seq)

    def remove(self, seq: Sequence) -> None:
        """`seq` has ended, in whatever state."""
        if seq.state is SeqState.RUNNING:
            self.running.discard(seq)
        elif seq.state is SeqState.WAITING:
            self.waiting.discard(seq)
        seq.finish()
        del self._by_id[seq.id]
        del self._by_request[seq.request.id]
        if len(self._deadlines) > 2 * len(self._by_id) + 64:  # far deadlines of ended sequences
            self._deadlines = [entry for entry in self._deadlines if entry[1] in self._by_id]
            heapq.heapify(self._deadlines)

    def next_deadline(self) -> float | None:
        """When the next deadline of a live sequence passes, by the engine's clock."""
        while self._deadlines and self._deadlines[0][1] not in self._by_id:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def expired(self, now: float) -> list[Sequence]:
        """Live sequences whose deadline has passed; each is returned once."""
        found: list[Sequence] = []
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            found.append(self._by_id[heapq.heappop(self._deadlines)[1]])
        return found

    def check(self) -> None:
        """Every sequence is in exactly one place, that of its state, and each line is in order.

        Raises:
            InternalError: that is not so.
        """
        if {seq.request.id: seq for seq in self._by_id.values()} != self._by_request:
            raise InternalError("the indexes of the sequence table differ")
        places: dict[SeqState, list[Sequence]] = {state: [] for state in SeqState}
        for seq in self._by_id.values():
            places[seq.state].append(seq)
            seq.check()
        for state, listed in (
            (SeqState.WAITING, list(self.waiting)),
            (SeqState.RUNNING, list(self.running)),
            (SeqState.FINISHED, []),
        ):
            if listed != sorted(places[state], key=lambda seq: seq.rank):
                raise InternalError(f"the {state} sequences are not those in that state, in order")
