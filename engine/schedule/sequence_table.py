"""The live sequences of the engine, by number, by request and by state.

Does: number sequences, find them, keep the waiting and the running ones in order, find those past their deadline. Does
not: decide which sequence changes its state, or know about memory.
"""

import heapq
from collections import deque
from typing import Final

from ..config import SchedulerConfig
from ..errors import InternalError, InvalidRequest
from ..sequence import SeqState, Sequence
from ..types import Request
from .queue import Ranked, rank
from .waiting_line import WaitingLine


class SequenceTable:
    """The live sequences. A number is never reused; a request id only after its request has ended.

    `waiting`, `running` and `penalised` (the numbers of sequences with a penalty) are read-only for callers; the
    methods below change them. Any thread may append to `fetched` the number of a sequence: its contents have arrived
    from another engine, or will not.
    """

    def __init__(self, config: SchedulerConfig) -> None:
        self.waiting = WaitingLine()
        self.running = Ranked()
        self.penalised: Final[set[int]] = set()
        self.fetched: Final[deque[int]] = deque()
        self._config = config
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
        """The live sequence with that number; None if there is none."""
        return self._by_id.get(seq_id)

    def find(self, request_id: str) -> Sequence | None:
        """The live sequence of that request; None if there is none."""
        return self._by_request.get(request_id)

    def live(self) -> set[int]:
        """The numbers of all live sequences."""
        return set(self._by_id)

    def add(self, request: Request, now: float) -> Sequence:
        """Add a new sequence for `request`, which waits to run, or for its grammar first.

        Raises:
            InvalidRequest: a live request has that id.
        """
        if request.id in self._by_request:
            raise InvalidRequest(f"the id {request.id!r} is in use", where="id")
        self._last_id += 1
        seq_id = self._last_id
        seq = Sequence(seq_id, request, rank(request, seq_id, now, self._config), now)
        self._by_id[seq_id] = seq
        self._by_request[request.id] = seq
        if request.sampling.is_penalised:
            self.penalised.add(seq_id)
        if request.deadline is not None:
            heapq.heappush(self._deadlines, (now + request.deadline, seq_id))
        return seq

    def wait(self, seq: Sequence) -> None:
        """Let `seq` wait to run, or first for contents on their way: it is new, or has its grammar or contents."""
        if seq.fetching or seq.state is not SeqState.WAITING:
            seq.wait()
        if seq.state is SeqState.WAITING:
            self.waiting.add(seq)

    def take_fetched(self) -> list[Sequence]:
        """Empty `fetched`; the sequences that waited for nothing but their contents, and wait to run now."""
        found: list[Sequence] = []
        while self.fetched:
            seq = self._by_id.get(self.fetched.popleft())
            if seq is not None:
                seq.fetching = False
                if seq.state is SeqState.WAIT_KV:
                    self.wait(seq)
                    found.append(seq)
        return found

    def admit(self, seq: Sequence, now: float, computed: int, reused: int) -> None:
        """Move `seq` from waiting to running; see `Sequence.admit`."""
        self.waiting.start(seq)
        seq.admit(now, computed, reused)
        self.running.add(seq)

    def preempt(self, seq: Sequence) -> None:
        """Move `seq` from running back to waiting."""
        self.running.discard(seq)
        seq.preempt()
        self.waiting.add(seq)

    def remove(self, seq: Sequence) -> None:
        """Remove `seq`, which has ended, in any state."""
        if seq.state is SeqState.RUNNING:
            self.running.discard(seq)
        elif seq.state is SeqState.WAITING:
            self.waiting.discard(seq)
        if seq.record.admitted is not None:
            self.waiting.settle(seq)
        seq.finish()
        del self._by_id[seq.id]
        del self._by_request[seq.request.id]
        self.penalised.discard(seq.id)
        if len(self._deadlines) > 2 * len(self._by_id) + 64:  # far deadlines of ended sequences
            self._deadlines = [entry for entry in self._deadlines if entry[1] in self._by_id]
            heapq.heapify(self._deadlines)

    def next_deadline(self) -> float | None:
        """The next deadline of a live sequence, as a time of the engine's clock; None if there is none."""
        while self._deadlines and self._deadlines[0][1] not in self._by_id:
            heapq.heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def expired(self, now: float) -> list[Sequence]:
        """The live sequences past their deadline; each is returned once."""
        found: list[Sequence] = []
        while (deadline := self.next_deadline()) is not None and deadline <= now:
            found.append(self._by_id[heapq.heappop(self._deadlines)[1]])
        return found

    def check(self) -> None:
        """Check that every sequence is in the list of its state only, and that the lists are in order.

        Raises:
            InternalError: that is not the case.
        """
        if {seq.request.id: seq for seq in self._by_id.values()} != self._by_request:
            raise InternalError("the indexes of the sequence table differ")
        penalised = {n for n, seq in self._by_id.items() if seq.request.sampling.is_penalised}
        if penalised != self.penalised:
            raise InternalError("other sequences have a penalty")
        places: dict[SeqState, list[Sequence]] = {state: [] for state in SeqState}
        for seq in self._by_id.values():
            places[seq.state].append(seq)
            seq.check()
        self.waiting.check()
        for state, listed in (
            (SeqState.WAITING, sorted(self.waiting, key=lambda seq: seq.rank)),
            (SeqState.RUNNING, list(self.running)),
            (SeqState.FINISHED, []),
        ):
            if listed != sorted(places[state], key=lambda seq: seq.rank):
                raise InternalError(f"the list of {state} sequences has others, or is not in order")
