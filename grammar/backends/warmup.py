"""Warm-up of a compiled grammar: masks computed along sample outputs, before any request needs them.

Does: write beginnings of outputs that take every property name and every branch of the rules once, and follow them with
a matcher. The tables and masks made on the way are then cached. Does not: change the legal tokens, or guarantee that
real outputs take these branches.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from time import sleep, thread_time
from typing import Final

from ..automata import Dfa
from ..completion.rule_graph import RuleGraph
from ..completion.shortest_texts import preferred_byte, usual_text
from ..contract.bitmask import empty_rows
from ..contract.errors import GrammarError, Violation
from ..machine.copied_texts import copied_place
from ..machine.lazy_tables import CALLED, DEAD, ENDED, ENTRY, LEAVE, OUTCOME
from ..machine.machine import Site
from ..machine.rule import Rule
from .native import NativeGrammar

_LEAST_S: Final = 0.0027
_MOST_S: Final = 0.15
# Where strings follow a document: their first masks take long, and no grammar shares them.
DOCUMENT_S: Final = 0.6
_SHORT: Final = 700  # characters of a source
_CHARACTER_S: Final = 40e-6  # for each further character

_TOKENS_A_TURN: Final = 16  # tokens after which other threads may run
_MOST_OUTPUTS: Final = 8
_MOST_BYTES: Final = 6_144  # of one output
_DEEPEST: Final = 10  # nested rules; at this depth only the end is approached
_AHEAD: Final = 4  # moves of look-ahead for a new branch
_MOST_LOOKED_AT: Final = 1_000  # states looked at for new branches, for one output
_FAR: Final = 1_024  # bytes to the end where the distance is unknown
_LARGEST: Final = 8_000  # states; the texts of larger leaves are not searched
_NO_NAME: Final = 2  # bytes of the shortest text of an outcome that stands for no particular name


def warm_up_s(source: str) -> float:
    """The time for the warm-up of a constraint: a long source takes long to compile anyway, and needs more masks."""
    return min(_MOST_S, max(_LEAST_S, _CHARACTER_S * (len(source) - _SHORT)))


def warm_up(grammar: NativeGrammar, seconds: float, *, bytewise: bool = False) -> None:
    """Compute masks for at most `seconds` of this thread's own time, plus one mask.

    With `bytewise` also those at places within the tokens of the outputs: after an opening quote, where a token may
    write it together with the closing one.

    Errors are ignored: a request gets them when its own text reaches them.
    """
    until = thread_time() + seconds
    writer, start = _Writer(grammar.graph), grammar.machine.start
    with suppress(GrammarError):
        for _ in range(_MOST_OUTPUTS):
            text = writer.output(until)
            with suppress(Violation):
                _follow(grammar, grammar.speller.spell((), text, final=True) if text else (), until)
            if bytewise:
                bytes_of = grammar.speller.single_bytes
                with suppress(Violation, KeyError):
                    _follow(grammar, (bytes_of[byte] for byte in text), until)
            if thread_time() > until or not writer.reaches_new(start, 0, _AHEAD):
                return


def _follow(grammar: NativeGrammar, tokens: Iterable[int], until: float) -> None:
    matcher, row = grammar.matcher(), empty_rows(1, grammar.index.vocabulary.width)[0]
    for place, token in enumerate(tokens):
        if thread_time() > until:
            return
        matcher.fill(row)
        matcher.accept(token)
        matcher.forced()
        if place % _TOKENS_A_TURN == 0:
            sleep(0)  # lets threads run that are in the middle of an output


@dataclass(slots=True, eq=False)
class _Open:
    """An open rule: the call site from which it was called, and what was written in it so far.

    `names`: the names written, by the entry of their leaf and their outcome. `compared`: whether a text was written
    that must not come twice. The writer always writes the same text, so it cannot write a second one.
    """

    site: int
    rule: Rule | Dfa
    names: set[tuple[int, int]] = field(default_factory=set)
    compared: bool = False


class _Writer:
    """Writes sample outputs, and keeps track of the branches of a machine's rules already taken."""

    def __init__(self, graph: RuleGraph) -> None:
        self._graph = graph
        self._machine = graph.machine
        self._known: set[int] = set()  # call sites already taken
        # By the call site of a rule and the entry of its leaf of names: the names not yet written.
        self._left: dict[tuple[int, int], dict[int, None]] = {}
        self._texts: dict[int, dict[int, bytes]] = {}  # of leaves, by entry and outcome
        self._open: list[_Open] = []
        self._looks = _MOST_LOOKED_AT  # left for this output

    def output(self, until: float) -> bytes:
        """The beginning of an output that takes branches not taken before."""
        machine = self._machine
        if isinstance(machine.root, Dfa):
            return usual_text(machine.root)[1]
        text, state = bytearray(), machine.start
        self._looks = _MOST_LOOKED_AT
        self._open = [_Open(0, machine.root)]
        while state >= 0 and len(text) < _MOST_BYTES and thread_time() < until:
            move, taken = self._choose(state)
            if move == LEAVE:
                state = ENDED - machine.tables.states.item(state, OUTCOME)
            elif move <= CALLED:
                state = self._call(CALLED - move, text)
            else:
                text += taken
                state = move
            while CALLED < state <= ENDED and len(self._open) > 1:
                state = self._target(self._open.pop().site, ENDED - state)
        return bytes(text)

    def _choose(self, state: int) -> tuple[int, bytes]:
        """A move towards a new branch, or towards the end; with a byte that makes it."""
        moves, here = self._graph.moves(state), self._open[-1]
        new = []
        if len(self._open) < _DEEPEST:
            new = [move for move in moves if self._is_new(move[0], here.site, _AHEAD)]
        if new:
            # Prefer to go on over a call, except in a rule that recurs.
            again = any(each.rule == here.rule for each in self._open[:-1])
            move, taken = min(new) if again else max(new)
        else:
            move, taken = min(moves, key=self._distance, default=(DEAD, b""))
        return move, preferred_byte(taken) if move > CALLED and taken else b""

    def _distance(self, step: tuple[int, bytes]) -> int:
        """Approximate distance to the end."""
        move, _ = step
        if move >= 0:
            return 2 + self._graph.bytes_to_end(move, _FAR)
        return 1 if move <= CALLED else 0

    def _call(self, site: int, text: bytearray) -> int:
        """The next state: in the callee, or after a leaf, of which a text is written."""
        place, entry = self._at(site)
        call, here = place.call, self._open[-1]
        self._known.add(site)
        here.compared |= call.same is not None and call.live is None
        if not isinstance(call.callee, Dfa):
            self._open.append(_Open(site, call.callee))
            return entry
        texts = self._texts.get(entry)
        if texts is None:
            texts = self._texts[entry] = self._texts_of(entry, call.callee, call.live)
        outcome = next(iter(texts), -1) if call.live is None else self._name(entry, call.live)
        if outcome not in texts:
            return DEAD
        text += texts[outcome]
        return self._target(site, outcome)

    def _at(self, site: int) -> tuple[Site, int]:
        place = self._machine.sites[site]
        assert place is not None
        return place, self._machine.tables.sites.item(site, ENTRY)

    def _target(self, site: int, outcome: int) -> int:
        return self._graph.target(site, outcome)

    def _texts_of(
        self, entry: int, leaf: Dfa, live: frozenset[int] | range | None
    ) -> dict[int, bytes]:
        if leaf.states > _LARGEST:
            return {}
        if live is None or len(leaf.outcomes) == 1:
            return dict([usual_text(leaf)])
        return dict(self._graph.shortest_texts(entry, leaf, bytes(range(256))))

    def _name(self, entry: int, live: frozenset[int] | range) -> int:
        """A name not yet written at this call site, else one not yet written in this activation."""
        here = self._open[-1]
        left = self._left.get((here.site, entry), {})
        name = next((each for each in left if each in live), None)
        if name is None:
            new = (each for each in live if (entry, each) not in here.names)
            name = min(new, default=max(live))
        left.pop(name, None)
        here.names.add((entry, name))
        return name

    def reaches_new(self, state: int, within: int, ahead: int) -> bool:
        """Whether a rule called from site `within` can reach a new branch from a state within `ahead` moves."""
        self._looks -= 1
        # No branch is within a text of a document, where many characters may follow.
        if self._looks < 0 or copied_place(self._machine.name(state)) is not None:
            return False
        return any(self._is_new(move, within, ahead) for move, _ in self._graph.moves(state))

    def _is_new(self, move: int, within: int, ahead: int) -> bool:
        if move >= 0:
            return ahead > 0 and self.reaches_new(move, within, ahead - 1)
        if move > CALLED:
            return False
        site = CALLED - move
        place, entry = self._at(site)
        call, here = place.call, self._open[-1]
        if call.live is not None:
            left = self._left.get((within, entry))
            if left is None:
                left = self._left[within, entry] = dict.fromkeys(_named(call.callee))
            return any(name in call.live for name in left)
        if call.same is not None and here.compared and here.site == within:
            return False
        if isinstance(call.callee, Dfa) or site not in self._known:
            return site not in self._known
        deep = len(self._open) + 1 < _DEEPEST
        return deep and ahead > 0 and self.reaches_new(entry, site, ahead - 1)


def _named(leaf: Rule | Dfa) -> Iterable[int]:
    """The outcomes that stand for particular names; all outcomes if none does."""
    assert isinstance(leaf, Dfa)
    if leaf.states > _LARGEST:
        return ()
    least = leaf.least
    return [each for each in leaf.outcomes if least[each] > _NO_NAME] or leaf.outcomes
