"""The KV blocks of prompts that other engines compute, fetched from there.

Does: fetch in separate threads, while a sequence waits for its contents and others run; bound what has arrived and is
not used yet; ask once more on a new connection. Where the other engine has ended, times out, has another version or
sends damaged contents, this engine computes what it did not receive. The connection to an engine that has ended is
closed within `WATCH_S`. Does not: write into blocks, or transport contents (a `Carrier` does).
"""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol

from ..types import Request
from .block_contents import Content
from .block_exchange import ExchangeError, PeerSilent
from .page_key import Chain

WATCH_S: Final = 0.25  # between two checks for connections to engines that have ended
PROBE_S: Final = 1.0  # between two attempts to reach an engine that could not be reached

LEAST_BLOCKS: Final = 8
"""Prompts that lack fewer blocks are computed here: that takes less time than another engine."""

Contents = Mapping[Chain, Content]


@dataclass(frozen=True, slots=True)
class Question:
    """The `chains` that a sequence lacks of a prompt, in order. `dropped` is set when it needs none."""

    request: Request
    chains: tuple[Chain, ...]
    dropped: threading.Event = field(default_factory=threading.Event)


class Received(NamedTuple):
    """The contents that arrived for a question.

    `cached`: the first tokens of the prompt that no engine computed for it; None where the contents tell.
    """

    contents: Contents
    cached: int | None = None


class PeerLink(Protocol):
    """A connection to another engine that transports contents. For one thread at a time."""

    @property
    def cached(self) -> int | None:
        """See `Received`, of the last question."""
        ...

    def ask(self, question: Question) -> Iterable[Content]:
        """The contents that the other engine has of the first chains, as they arrive.

        Raises:
            ExchangeError: it has ended or timed out, or a content is damaged.
        """
        ...

    def has_ended(self) -> bool:
        """Whether the other engine has ended. Does not wait."""
        ...

    def close(self) -> None:
        """End the connection, and use no memory of the other engine any more."""
        ...


class Carrier(Protocol):
    """One way to other engines. For several threads."""

    @property
    def readers(self) -> int:
        """The number of questions at a time."""
        ...

    @property
    def most_bytes(self) -> int:
        """The bytes of contents that have arrived and are not used yet, at most."""
        ...

    @property
    def block_bytes(self) -> int:
        """The bytes of a content."""
        ...

    @property
    def peers(self) -> Sequence[str]:
        """The addresses at which every prompt may be asked for; none where each request names its own."""
        ...

    def connect(self, address: str) -> PeerLink:
        """A link to an engine. Raises `ExchangeError`."""
        ...


@dataclass(slots=True)
class _Fetch:
    """A question, its answer when it has come, and the bytes that are set aside for it."""

    address: str
    question: Question
    arrived: Callable[[], None]
    nbytes: int
    answer: Received | None = None
    began: bool = False


class PeerTier:
    """The contents that other engines have for the sequences of this one.

    Engines of the carrier that cannot be reached, at first those in `unreached`, are not chosen until they can.
    """

    def __init__(self, carrier: Carrier, unreached: Iterable[str] = ()) -> None:
        self._carrier = carrier
        self._guard = threading.Lock()
        self._idle: dict[str, list[PeerLink]] = {}
        self._fetches: dict[int, _Fetch] = {}
        self._pending: deque[_Fetch] = deque()
        self._load: Counter[str] = Counter()  # chains asked for, by address
        self._unreached = dict.fromkeys(unreached, 0.0)  # when to try again
        self._held = 0  # bytes
        self._faults: Counter[str] = Counter()
        self._readers = ThreadPoolExecutor(carrier.readers, thread_name_prefix="kv-peer")
        self._closing = threading.Event()
        self._watch = threading.Thread(target=self._watch_links, name="kv-watch", daemon=True)
        self._watch.start()

    @property
    def faults(self) -> dict[str, int]:
        """Exchanges that failed."""
        return {kind: count for kind, count in self._faults.items() if count}

    def choose(self, request: Request, chains: Sequence[Chain]) -> str:
        """The address of the engine to ask for these chains of a new request; "" for none.

        It is the one that the request names. Else it is one that computes prompts, if that pays: the one that is asked
        for least, and of equal ones the same for a prefix.
        """
        if request.exports or not chains or request.kv_peer:
            return request.kv_peer if chains else ""
        if len(chains) < LEAST_BLOCKS or request.adapter is not None or request.images:
            return ""
        ready = [each for each in self._carrier.peers if each not in self._unreached]
        if not ready:
            return ""
        first = chains[0][0] % len(ready)
        return min(ready[first:] + ready[:first], key=lambda each: self._load[each])

    def ask(
        self, seq_id: int, address: str, question: Question, arrived: Callable[[], None]
    ) -> None:
        """Fetch the contents for a sequence, once; then `arrived` is called, in another thread."""
        most = self._carrier.most_bytes // self._carrier.block_bytes
        question = replace(question, chains=question.chains[:most])
        nbytes = len(question.chains) * self._carrier.block_bytes
        fetch = _Fetch(address, question, arrived, nbytes)
        with self._guard:
            self._fetches[seq_id] = fetch
            self._pending.append(fetch)
            self._load[address] += len(question.chains)
        self._begin()

    def received(self, seq_id: int) -> Received:
        """The contents that have arrived for a sequence; empty before that, and without a question."""
        fetch = self._fetches.get(seq_id)
        return Received({}) if fetch is None or fetch.answer is None else fetch.answer

    def forget(self, seq_id: int) -> None:
        """Drop what was received for a sequence, or will be. No effect for an unknown one."""
        with self._guard:
            fetch = self._fetches.pop(seq_id, None)
            if fetch is None:
                return
            fetch.question.dropped.set()
            if not fetch.began:
                self._pending.remove(fetch)
                self._load[fetch.address] -= len(fetch.question.chains)
            elif fetch.answer is not None:
                self._held -= fetch.nbytes
        self._begin()

    def close(self) -> None:
        """End the threads and the connections."""
        self._closing.set()
        self._watch.join()
        with self._guard:
            self._pending.clear()
            for fetch in self._fetches.values():
                fetch.question.dropped.set()
        self._readers.shutdown(cancel_futures=True)
        for links in self._idle.values():
            for link in links:
                link.close()

    def _begin(self) -> None:
        """Start the questions that have room for their contents."""
        with self._guard:
            while self._pending and not self._closing.is_set():
                fetch = self._pending[0]
                if self._held and self._held + fetch.nbytes > self._carrier.most_bytes:
                    break
                self._pending.popleft()
                fetch.began = True
                self._held += fetch.nbytes
                self._readers.submit(self._answer, fetch)

    def _answer(self, fetch: _Fetch) -> None:
        answer = Received({})
        try:
            answer = self._fetch(fetch.address, fetch.question)
        finally:
            arrived = len(answer.contents) * self._carrier.block_bytes
            with self._guard:
                self._load[fetch.address] -= len(fetch.question.chains)
                gone = fetch.question.dropped.is_set()
                self._held -= fetch.nbytes if gone else fetch.nbytes - arrived
                fetch.nbytes, fetch.answer = arrived, answer
            self._begin()
            fetch.arrived()

    def _fetch(self, address: str, question: Question) -> Received:
        """Ask at most twice, the second time on a new connection: the process behind an old one may have ended."""
        found: dict[Chain, Content] = {}
        failed = False
        for is_second in (False, True):
            left = replace(question, chains=question.chains[len(found) :])
            link = None if is_second else self._idle_link(address)
            was_idle = link is not None
            try:
                link = link or self._carrier.connect(address)
            except ExchangeError:
                self._note_unreached(address)
                failed = True
                break
            try:
                # The contents first: then a link is read to its end. An update that raises keeps what has arrived.
                pairs = zip(link.ask(left), left.chains, strict=False)
                found.update((chain, content) for content, chain in pairs)
            except ExchangeError as error:
                link.close()
                failed = failed or not (was_idle or question.dropped.is_set())
                if isinstance(error, PeerSilent):
                    self._note_unreached(address)
                    break
                if question.dropped.is_set():
                    break
            else:
                with self._guard:
                    self._idle.setdefault(address, []).append(link)
                self._faults["exchange"] += failed
                return Received(found, link.cached)
        self._faults["exchange"] += failed
        return Received(found)

    def _idle_link(self, address: str) -> PeerLink | None:
        """A link that no thread uses."""
        with self._guard:
            idle = self._idle.get(address)
            return idle.pop() if idle else None

    def _note_unreached(self, address: str) -> None:
        if address in self._carrier.peers:
            with self._guard:
                self._unreached[address] = time.monotonic() + PROBE_S

    def _watch_links(self) -> None:
        """Have readers close the links of engines that have ended, and connect to those that could not be reached."""
        while not self._closing.wait(WATCH_S):
            if any(self._idle.values()):
                self._readers.submit(self._close_ended).result()
            with self._guard:
                due = [each for each, at in self._unreached.items() if at <= time.monotonic()]
            for address in due:
                self._note_unreached(address)
                self._readers.submit(self._reach, address)

    def _reach(self, address: str) -> None:
        """Connect to an engine that could not be reached."""
        try:
            link = self._carrier.connect(address)
        except ExchangeError:
            self._note_unreached(address)
            return
        with self._guard:
            self._unreached.pop(address, None)
            self._idle.setdefault(address, []).append(link)

    def _close_ended(self) -> None:
        with self._guard:
            ended = [link for links in self._idle.values() for link in links if link.has_ended()]
            for links in self._idle.values():
                links[:] = [link for link in links if link not in ended]
        for link in ended:
            link.close()
