"""Completion: from the fewest tokens on, every budget gives a whole and valid document.

Does: play the engine's part with a model that picks any legal token, for one schema; ask the engine's scheduler what
becomes of a budget below the least. Does not: choose schemas (`run`).
"""

import random
from dataclasses import dataclass, field

import numpy as np
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.plan import Forced, SampledBatch
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    GrammarError,
    Kind,
    empty_rows,
)

from tests.conformance.tokens import Spelling
from tests.conformance.validator import Doubtful, exact, validator

MORE = 20  # budgets above the least


@dataclass
class Completed:
    """What became of one schema; `least` is None where the schema was refused."""

    least: int | None = None
    outputs: int = 0
    tight: int = 0  # that used their whole budget
    doubts: int = 0
    faults: list[str] = field(default_factory=list)


def complete(compiler: Compiler, spelling: Spelling, name: str, source: str) -> Completed:
    """One schema with every budget from its least to `MORE` above."""
    constraint = Constraint(Kind.JSON_SCHEMA, source)
    try:
        grammar = compiler.compile(constraint)
    except GrammarError:
        return Completed()
    least = grammar.least_tokens
    if least is None:
        return Completed(least, faults=["the least is not known"])
    found, fault = Completed(least), validator(exact(source))
    if least > 1 and not refused(constraint, least, least - 1):
        found.faults.append("a budget below the least was not refused")
    if refused(constraint, least, least):
        found.faults.append("the least budget was refused")
    for budget in range(least, least + MORE + 1):
        try:
            text, used = output(grammar, spelling, budget, f"{name} {budget}")
        except GrammarError as error:
            found.faults.append(f"{budget}: {type(error).__name__}: {error}")
            continue
        found.outputs += 1
        found.tight += used == budget
        try:
            broken = fault(exact(text.decode()))
        except ValueError as error:
            broken = f"not JSON: {error}"
        except Doubtful:
            found.doubts += 1
            continue
        if used > budget:
            broken = f"{used} tokens of {budget}"
        if broken:
            found.faults.append(f"{budget}: {broken}: {text.decode(errors='replace')[:200]}")
    return found


def output(
    grammar: CompiledGrammar, spelling: Spelling, budget: int, seed: str
) -> tuple[bytes, int]:
    """(the text, tokens with the end token) of a model that picks anything legal, closed by the engine's own rule."""
    vocabulary, choose = spelling.vocabulary, random.Random(seed)
    row = empty_rows(1, vocabulary.width)[0]
    following = BudgetedMatcher(grammar.matcher(), budget)
    tokens = list(following.start())
    while not following.matcher.finished and len(tokens) <= budget:
        following.matcher.fill(row)
        legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
        picked = (int(legal[choose.randrange(len(legal))]),)
        followed = following.follow(picked)
        tokens += followed.tokens if followed.instead else (*picked, *followed.tokens)
    return b"".join(vocabulary.tokens[t] or b"" for t in tokens if t < vocabulary.end_ids[0]), len(
        tokens
    )


def refused(constraint: Constraint, least: int, budget: int) -> bool:
    """Whether the scheduler ends a request with this budget before anything is computed."""
    memory = KVManager(BlockPool(4096), 16)
    limits = RequestLimits(max_context=16_384, vocab_size=1 << 16, end_tokens=frozenset({0}))
    scheduler = Scheduler(SchedulerConfig(), memory, limits, lambda: 0.0)
    request = Request(
        id="one", prompt=(1,), sampling=SamplingParams(max_tokens=budget), constraint=constraint
    )
    scheduler.grammar_ready(scheduler.add(request), least)
    plan = scheduler.plan()
    changes = scheduler.commit(plan, SampledBatch(()), Forced({}, {})) if not plan.works else None
    return changes is not None and any(c.finish is Finish.ERROR for c in changes.items)
