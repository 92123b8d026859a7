"""An executor, a grammar and a compiler that play by rules anybody can recompute, without torch.

Does: keep the content of every KV cell, and answer with a function of exactly the cells that a sequence's block table
leads to; so whatever goes wrong with blocks, positions or order changes tokens. Does not: forgive: a plan that breaks
the protocol is refused.
"""

import math
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random
from zlib import crc32

from intaglio.engine.plan import PLACEHOLDER, Masks, Plan, SampledBatch, SampledToken, Work
from intaglio.engine.types import Failure
from intaglio.grammar.api import (
    CompiledGrammar,
    Constraint,
    DeviceTables,
    InvalidConstraint,
    Kind,
    MaskRow,
    MaskRows,
    Violation,
    allow,
    allowed_tokens,
    empty_rows,
)
from intaglio.grammar.backends.closing_questions import UndividedAnswers

VOCAB = 41  # not a multiple of the 32 bits of a mask word
END_TOKENS = frozenset({0, 1})
TEXT = range(2, VOCAB)


def cell(position: int, token: int) -> int:
    """What a KV cell holds: the token, and the position it was computed at."""
    return position << 8 | token


def next_token(cells: Sequence[int], allowed: Sequence[int] | None) -> int:
    """The model: the next token is a function of all cells before it, and of what is allowed."""
    draw = crc32(array("Q", cells).tobytes()) >> 4
    if allowed is not None:
        return allowed[draw % len(allowed)]
    return draw % 2 if draw % 29 == 0 else TEXT[draw % len(TEXT)]


class BrokenPlanError(Exception):
    """A plan breaks the protocol of `Executor`."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenPlanError(what)


@dataclass
class _Known:
    """The executor's state of one sequence. Tokens from `certain` on are drafts, which may be replaced.

    `tables` are those of the block groups. `unread`: its last sample was not read yet, which a penalty has to count.
    """

    tokens: list[int]
    tables: list[list[int]]
    unusable_from: float
    computed: int = 0
    certain: int = 0
    last: int | None = None  # the last sample
    penalised: bool = False
    unread: bool = False


@dataclass
class Seen:
    """Counts of the work computed."""

    steps: int = 0
    tokens: int = 0
    partial: int = 0
    works: int = 0
    most_works: int = 0
    ahead: int = 0
    drafts: int = 0


@dataclass(eq=False)
class Pass:
    """A plan being computed."""

    plan: Plan
    drawn: SampledBatch | None = None


class ScriptedExecutor:
    """Computes plans on blocks of cells. Stale cells stay where they are, as on a device.

    The seed of a request, which nothing here draws by, is the number of output tokens after which its logits are not
    numbers.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        max_tokens: int,
        *,
        strict: bool = False,
        windows: tuple[int | None, ...] = (None,),
    ) -> None:
        """`strict` refuses works with tokens that only the executor knows. `windows`: those of the block groups."""
        garbage = Random(num_blocks * 31 + block_size)
        self._cells = [
            [garbage.randrange(1 << 40, 1 << 41) for _ in range(block_size)]
            for _ in range(num_blocks)
        ]
        self._block_size = block_size
        self._max_tokens = max_tokens
        self._known: dict[int, _Known] = {}
        self._strict = strict
        self._windows = windows
        self._logits: Pass | None = None
        self.seen = Seen()

    @property
    def remembered(self) -> int:
        """Number of sequences not released yet."""
        return len(self._known)

    def forward(self, plan: Plan) -> Pass:
        demand(bool(plan.works), "a plan without work was sent")
        demand(plan.token_count <= self._max_tokens, "a plan over the budget of tokens")
        demand(len({w.seq_id for w in plan.works}) == len(plan.works), "two works of a sequence")
        for seq_id in plan.released:
            demand(self._known.pop(seq_id, None) is not None, f"{seq_id} was released unknown")
        for new in plan.admitted:
            demand(new.seq_id not in self._known, f"{new.seq_id} was admitted twice")
            demand(new.tokens != () and 0 < new.prompt_length <= len(new.tokens), "no prompt")
            seed = new.sampling.seed
            self._known[new.seq_id] = _Known(
                list(new.tokens),
                [list(new.blocks), *map(list, new.other_tables)],
                computed=len(new.tokens),  # at most, by the prefix cache
                certain=len(new.tokens),
                unusable_from=math.inf if seed is None else new.prompt_length + seed,
                penalised=new.sampling.is_penalised,
            )
        for work in plan.works:
            demand(work.seq_id in self._known, f"{work.seq_id} has work and was never admitted")
            self._compute(self._known[work.seq_id], work)
        self.seen.steps += 1
        self.seen.tokens += plan.token_count
        self.seen.works += len(plan.works)
        self.seen.most_works = max(self.seen.most_works, len(plan.works))
        self._logits = Pass(plan)
        return self._logits

    def _compute(self, known: _Known, work: Work) -> None:
        for table, new in zip(known.tables, (work.new_blocks, *work.other_blocks), strict=False):
            table.extend(new)
        demand(len(known.tables) == len(self._windows), "a table for each group")
        demand(work.tokens != (), "an empty work")
        demand(PLACEHOLDER not in work.tokens[:-1], "a token in the middle is not known")
        end = work.start + len(work.tokens)
        demand(work.start <= known.computed, "tokens in between are not computed")
        demand(work.logits <= len(work.tokens), "more rows of logits than tokens")
        del known.tokens[max(known.certain, work.start) :]
        known.certain = max(known.certain, end - len(work.drafts))
        self.seen.drafts += len(work.drafts)
        for table, window in zip(known.tables, self._windows, strict=True):
            seen = 0 if window is None else max(0, work.start - window + 1) // self._block_size
            held = table[seen:]
            demand(all(0 < block < len(self._cells) for block in held), "a bad block number")
            demand(end <= len(table) * self._block_size, "more tokens than the table has room")
        for position, told in enumerate(work.tokens, work.start):
            token = told
            if told == PLACEHOLDER:
                demand(known.last is not None, "nothing was sampled for a sequence that goes on")
                demand(position == len(known.tokens), "a pick stands elsewhere than at the end")
                demand(not self._strict, "a token that is known was not told")
                self.seen.ahead += 1
                assert known.last is not None
                token = known.last
            if position < len(known.tokens):
                demand(known.tokens[position] == token, "a known token has changed")
            else:
                known.tokens.append(token)
            for table in known.tables:
                block = table[position // self._block_size]
                self._cells[block][position % self._block_size] = cell(position, token)
        known.computed = end
        if not work.logits:
            self.seen.partial += 1

    makes_masks = False

    def hold(self, key: str, tables: DeviceTables) -> bool:
        return False

    def drop(self, key: str) -> None:
        raise BrokenPlanError("a grammar was dropped that was never held")

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        return empty_rows(count, width)

    def sample(self, handle: Pass, masks: Masks) -> None:
        demand(handle is self._logits, "logits that were overwritten are sampled")
        samples = []
        for work in handle.plan.works:
            if not work.logits:
                continue
            samples.append(self._sample(work, masks))
        handle.drawn = SampledBatch(tuple(samples))

    def _sample(self, work: Work, masks: Masks) -> SampledToken:
        """A token for each row of logits, up to the first row that is not a number."""
        known, tokens = self._known[work.seq_id], list[int]()
        counted = not known.unread or PLACEHOLDER not in work.tokens
        demand(counted or not known.penalised, "a penalty does not count the last token")
        known.unread = True
        for index in range(work.logits):
            count = work.end - work.logits + 1 + index
            if count > known.unusable_from:
                known.last = TEXT[0]  # a device leaves something there, and may compute on
                break
            allowed: list[int] | None = None
            if work.seq_id in masks.row_of:
                row = masks.rows[masks.row_of[work.seq_id] + index]
                allowed = allowed_tokens(row, VOCAB).tolist()
                demand(allowed != [], "a row that allows nothing was handed to the sampler")
            known.last = self._next(known, count, allowed)
            tokens.append(known.last)
        failure = None if tokens else Failure("numerical_error", "nan")
        return SampledToken(work.seq_id, tuple(tokens), failure=failure)

    def sampled(self, handle: Pass) -> SampledBatch:
        demand(handle.drawn is not None, "samples are read that were not drawn")
        assert handle.drawn is not None
        for sample in handle.drawn.samples:
            if sample.seq_id in self._known:
                self._known[sample.seq_id].unread = False
        return handle.drawn

    def _next(self, known: _Known, count: int, allowed: list[int] | None) -> int:
        """A token by the cells that the first group sees, and by the tokens before its window.

        The other groups hold the same tokens, as far as they see any.
        """
        size, cells = self._block_size, [cell(p, known.tokens[p]) for p in range(count)]
        for group, (table, window) in enumerate(zip(known.tables, self._windows, strict=True)):
            begin = 0 if window is None else max(0, count - window)
            seen = [self._cells[table[p // size]][p % size] for p in range(begin, count)]
            demand(not group or seen == cells[begin:], f"group {group} holds other tokens")
            cells[begin:] = seen
        return next_token(cells, allowed)


BEYOND = 2**40
"""A token that no vocabulary has: a sampler's or a runner's arrays would not hold it."""

# Faults that a matcher may have, once it has accepted `at` tokens.
FAULTS = ("zero", "fill", "refuse", "accept", "forced", "finished", "beyond")
FAULTS_IF_ASKED = ("forced", "beyond")  # those that show only where `forced` is called


@dataclass(frozen=True)
class Script:
    """A grammar as a few numbers: outputs are up to `depth` tokens and an end token, by the dice of `seed`.

    `tells_least` says whether the grammar knows its shortest output; `fault` is one of `FAULTS`, or "compile", or "".
    """

    seed: int
    depth: int
    tells_least: bool = True
    fault: str = ""
    at: int = 0

    @property
    def constraint(self) -> Constraint:
        fields = (self.seed, self.depth, int(self.tells_least), self.fault, self.at)
        return Constraint(Kind.REGEX, ":".join(map(str, fields)))

    @classmethod
    def of(cls, constraint: Constraint) -> "Script":
        seed, depth, tells_least, fault, at = constraint.source.split(":")
        return cls(int(seed), int(depth), tells_least == "1", fault, int(at))

    def allowed(self, output: Sequence[int]) -> list[int]:
        """Tokens that may follow `output`: often one, sometimes a few, an end token among them now and then."""
        draw = crc32(array("Q", [self.seed, *output]).tobytes()) >> 3
        if len(output) >= self.depth:
            return [draw % 2]
        if draw % 10 < 4:
            return [TEXT[draw % len(TEXT)]]
        few = {TEXT[(draw >> shift) % len(TEXT)] for shift in range(2 + draw % 4)}
        return sorted(few | ({draw % 2} if draw % 7 == 0 else set()))

    def closing(self, output: Sequence[int]) -> tuple[int, ...]:
        """A way to the end, not always the shortest: an end token where one may come, else the least token."""
        ahead = list(output)
        while not (ahead and ahead[-1] in END_TOKENS):
            ahead.append(min(self.allowed(ahead)))
        return tuple(ahead[len(output) :])


@dataclass
class ScriptedMatcher(UndividedAnswers):
    """Follows one output of a script."""

    script: Script
    output: list[int] = field(default_factory=list)

    def _broken(self, fault: str) -> bool:
        return self.script.fault == fault and len(self.output) >= self.script.at

    @property
    def finished(self) -> bool:
        if self._broken("early"):
            return True
        ended = bool(self.output) and self.output[-1] in END_TOKENS
        if self._broken("finished") and not ended:  # an end token is no token of the output
            raise ArithmeticError("planted, with half a pair: \ud800")
        return ended

    def fill(self, row: MaskRow) -> None:
        if self._broken("fill"):
            raise RuntimeError("planted")
        row.fill(0)
        if not self.finished and not self._broken("zero"):
            allow(row, self.script.allowed(self.output))

    def accept(self, token: int) -> None:
        if self._broken("accept"):
            raise ValueError("planted")
        if self._broken("beyond") and token == BEYOND:
            return
        if self._broken("refuse") or token not in self.script.allowed(self.output):
            raise Violation(f"token {token} is not allowed")
        self.output.append(token)

    def skip(self, tokens: Sequence[int]) -> None:
        for token in tokens:
            self.accept(token)

    def forced(self) -> tuple[int, ...]:
        if self._broken("forced"):
            raise LookupError("planted")
        if self._broken("beyond"):
            return (BEYOND,)
        ahead = list(self.output)
        while not (ahead and ahead[-1] in END_TOKENS):
            allowed = self.script.allowed(ahead)
            if len(allowed) > 1 or (self.script.fault and len(ahead) >= self.script.at):
                break
            ahead += allowed
        return tuple(ahead[len(self.output) :])

    def rollback(self, count: int) -> None:
        del self.output[len(self.output) - count :]

    def fork(self) -> "ScriptedMatcher":
        return ScriptedMatcher(self.script, list(self.output))

    def closes_within(self, tokens: int) -> bool:
        least = self.least_tokens()
        return least is None or least <= tokens

    def closing(self) -> tuple[int, ...] | None:
        return self.script.closing(self.output) if self.script.tells_least else None


@dataclass(frozen=True)
class ScriptedGrammar:
    script: Script

    @property
    def size_bytes(self) -> int:
        return 64

    @property
    def least_tokens(self) -> int | None:
        return len(self.script.closing(())) if self.script.tells_least else None

    def matcher(self) -> ScriptedMatcher:
        return ScriptedMatcher(self.script)


class ScriptedCompiler:
    """Compiles on demand: `finish` completes one pending grammar. With `at_once`, no grammar is ever pending."""

    def __init__(self, *, at_once: bool = False) -> None:
        self.at_once = at_once
        self._open: list[tuple[Future[CompiledGrammar], Constraint]] = []

    @property
    def under_way(self) -> int:
        return len(self._open)

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        future: Future[CompiledGrammar] = Future()
        self._open.append((future, constraint))
        if self.at_once:
            self.finish(lambda _: 0)
        return future

    def cancel(self) -> None:
        """Cancel the grammar that was begun first."""
        self._open[0][0].cancel()

    def finish(self, choose: Callable[[int], int]) -> None:
        """Complete the grammar at the index `choose(count)`."""
        future, constraint = self._open.pop(choose(len(self._open)))
        script = Script.of(constraint)
        if script.fault == "compile":
            future.set_exception(InvalidConstraint("planted"))
        else:
            future.set_result(ScriptedGrammar(script))
