"""The back end for grammars in which one byte of look-ahead does not decide: matchers over Earley items.

Does: implement `CompiledGrammar` and `Matcher` for a chart and a vocabulary; replace a chart that is full. Does not:
make columns or masks (`earley`), read grammars (`cfg`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from ..contract.bitmask import MaskRow
from ..contract.errors import Refusal, TablesFull, UnsupportedConstraint, Violation
from ..earley.chart import Chart
from ..earley.masks import Masks, WalkIndex
from .closing_questions import UndividedAnswers
from .token_spelling import Speller

if TYPE_CHECKING:
    from ..cfg.enforce import NondeterministicGrammar

_MOST_WARM: Final = (
    256  # tokens of a shortest output; the masks along them are made before the first request
)

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Generation:
    """One chart of a grammar, with the masks of its columns."""

    chart: Chart
    masks: Masks


class EarleyGrammar:
    """A grammar compiled for one vocabulary, followed by charts of bounded size; see `CompiledGrammar`.

    A chart grows with the texts that outputs reach. Once it is full, an empty chart of the same rules takes over, and a
    matcher that needs more of the full one reads its output again.
    """

    def __init__(
        self, parsed: "NondeterministicGrammar", walk: WalkIndex, speller: Speller
    ) -> None:
        """Raises:
        ConstraintTooLarge: the grammar has too many states.
        UnsupportedConstraint: no shortest output can be spelled.
        """
        self.parsed = parsed
        self.walk = walk
        self.index = walk.index
        self.speller = speller
        self._generation = _Generation(Chart(parsed.form), Masks(walk))
        self._lock = Lock()
        if self.least_tokens is None:
            reason = "no shortest output can be written with this vocabulary's tokens"
            hint = "give the tokenizer a token for each byte, or make the shortest output shorter"
            refusal = Refusal(parsed.form.start, "rule", reason, hint)
            raise UnsupportedConstraint(f"{reason}; {hint}", (refusal,))

    @property
    def generation(self) -> _Generation:
        """The newest chart with its masks."""
        return self._generation

    @property
    def size_bytes(self) -> int:
        """Memory of the newest chart and its masks."""
        return self._generation.chart.nbytes + self._generation.masks.nbytes

    @property
    def columns(self) -> int:
        """Number of sets of items in the newest chart."""
        return self._generation.chart.columns

    @cached_property
    def least_tokens(self) -> int | None:
        """See `CompiledGrammar.least_tokens`."""
        return self.matcher().least_tokens()

    @property
    def shortest(self) -> bytes | None:
        """A shortest complete output; None if it has too many readings."""
        chart = self._generation.chart
        return chart.closing(chart.first)

    def after(self, full: _Generation) -> _Generation:
        """The generation that replaces a full one."""
        with self._lock:
            if self._generation is full:
                self._generation = _Generation(full.chart.empty_copy(), Masks(self.walk))
            return self._generation

    def matcher(self) -> "EarleyMatcher":
        """A new matcher at the start of the output."""
        return EarleyMatcher(self, self._generation)

    def warm_up(self) -> None:
        """Make the masks along a shortest output."""
        matcher, row = self.matcher(), np.zeros(self.index.words, np.int32)
        matcher.fill(row)
        for token in (matcher.closing() or ())[:_MOST_WARM]:
            matcher.accept(token)
            matcher.fill(row)


class EarleyMatcher(UndividedAnswers):
    """Follows one output; see `Matcher`."""

    def __init__(self, grammar: EarleyGrammar, generation: _Generation) -> None:
        self._grammar = grammar
        self._generation = generation
        self._history: list[int] = []
        self._columns = [generation.chart.first]  # before the first token and after each token
        self._finished = False
        # By position: the result of `closing` (empty: no end was found); None if it was not called there.
        self._closings: list[tuple[int, ...] | None] = [None]

    @property
    def finished(self) -> bool:
        """Whether an end token has been accepted."""
        return self._finished

    def fill(self, row: MaskRow) -> None:
        """Overwrite `row` with the tokens that are legal next."""
        if self._finished:
            row[:] = 0
            return
        self._moving(lambda now: now.masks.fill(now.chart, self._columns[-1], row.view(np.uint32)))

    def accept(self, token: int) -> None:
        """Advance by one token.

        Raises:
            Violation: the token is not legal here; the matcher has not moved.
        """
        if self._finished:
            raise Violation(f"token {token} follows the end of the output")
        if token in self._grammar.index.vocabulary.end_ids:
            if not self._generation.chart.may_end(self._columns[-1]):
                raise Violation(f"the output may not end here (token {token})")
            self._finished = True
            self._columns.append(self._columns[-1])
        else:
            text = self._grammar.index.texts.get(token)
            column = (
                -1
                if text is None
                else self._moving(lambda now: now.chart.read(self._columns[-1], text))
            )
            if column < 0:
                raise Violation(f"token {token} is not legal here")
            self._columns.append(column)
        run = self._closings[-1]
        self._history.append(token)
        self._closings.append(run[1:] if run and run[0] == token else None)

    def skip(self, tokens: Sequence[int]) -> None:
        """Advance by many tokens.

        Raises:
            Violation: one of them is not legal.
        """
        for token in tokens:
            self.accept(token)

    def forced(self) -> tuple[int, ...]:
        """Tokens that must come next; see `Matcher.forced`."""
        if self._finished:
            return ()
        text, over = self._moving(self._force)
        ends = self._grammar.index.vocabulary.end_ids if over else ()
        run = self._grammar.speller.spell(self._history, text, final=over) if text else ()
        return (*run, *ends) if len(ends) == 1 and (run or not text) else run

    def _force(self, now: _Generation) -> tuple[bytes, bool]:
        """The forced text, and whether the output is over after it."""
        column = self._columns[-1]
        text = now.chart.forced(column)
        if text:
            column = now.chart.read(column, np.frombuffer(text, np.uint8).copy())
        return text, now.chart.is_over(column)

    def rollback(self, count: int) -> None:
        """Take back the last `count` accepted tokens; see `Matcher.rollback`."""
        if not 0 <= count <= len(self._history):
            raise ValueError(f"{count} tokens cannot be taken back of {len(self._history)}")
        if count:
            for kept in (self._history, self._closings, self._columns):
                del kept[len(kept) - count :]
            self._finished = False

    def fork(self) -> "EarleyMatcher":
        """An independent copy at the same position."""
        twin = EarleyMatcher(self._grammar, self._generation)
        twin._history, twin._closings = list(self._history), list(self._closings)
        twin._columns, twin._finished = list(self._columns), self._finished
        return twin

    def closes_within(self, tokens: int) -> bool:
        """Whether `least_tokens` fits; see `Matcher.closes_within`.

        Also False where no end was found: the output is then closed earlier, where an end is known, and stays valid.
        """
        if self._finished:
            return tokens >= 0
        chart = self._generation.chart
        spells = len(self._grammar.speller.single_bytes) == 256 and not chart.refused
        # A token for each byte, and the end token.
        if spells and chart.least(self._columns[-1]) < tokens:
            return True
        least = self.least_tokens()
        return least is not None and least <= tokens

    def closing(self) -> tuple[int, ...] | None:
        """The tokens of a short end of the output, with the end token; None if none was found.

        Each position keeps its end: after its first token has been accepted, the rest is still an end.
        """
        if self._finished:
            return ()
        found = self._closings[-1]
        if found is None:
            found = self._closings[-1] = self._find_end()
        return found or None

    def _find_end(self) -> tuple[int, ...]:
        text = self._moving(lambda now: now.chart.closing(self._columns[-1]))
        if text is None:
            return ()
        run = self._grammar.speller.complete(self._history, text)
        return () if text and not run else (*run, self._grammar.index.vocabulary.end_ids[0])

    def _moving(self, work: Callable[[_Generation], T]) -> T:
        """The result of `work`, in an empty chart if the present one is full.

        Raises:
            TablesFull: an empty chart does not suffice for this output alone.
        """
        try:
            return work(self._generation)
        except TablesFull:
            pass  # handled outside, so that the error does not keep the full chart
        texts = self._grammar.index.texts
        newer = self._grammar.after(self._generation)
        columns = [newer.chart.first]
        for token in self._history[: len(self._history) - self._finished]:
            columns.append(newer.chart.read(columns[-1], texts[token]))
        if self._finished:
            columns.append(columns[-1])
        self._generation, self._columns = newer, columns
        return work(newer)
