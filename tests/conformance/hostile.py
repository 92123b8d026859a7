"""The hostile corpus through the library: each case ends in time and memory, with the right answer.

Does: expand the cases, compile each, feed the outputs it has to take and to refuse, walk its masks. Does not: limit
(`children`) or count (`run`).
"""

import base64
import json
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    CompilerBusy,
    Constraint,
    ExaminationPool,
    GrammarError,
    Kind,
    Unsatisfiable,
    Verdict,
    Violation,
    allowed_tokens,
    empty_rows,
)

from tests.conformance.children import Limits
from tests.conformance.tokens import Spelling

LIMITS = Limits(cpu_s=2.0, wall_s=30.0, more_bytes=1 << 30)
_WALK = 256  # tokens
_PATIENCE = 20  # examinations that find no processor


@dataclass(frozen=True)
class Case:
    """One input with what is asked of it; `source` is None where the text is not UTF-8."""

    name: str
    kind: str
    source: str | None
    right: frozenset[str]
    accepts: tuple[str, ...]
    rejects: tuple[str, ...]
    dead: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """The answer to a case, and what is wrong with it (empty: nothing)."""

    answer: str
    wrong: str = ""


def cases(folder: Path) -> Iterator[Case]:
    """The corpus."""
    with (folder / "hostile" / "hostile.jsonl").open() as lines:
        for line in lines:
            record = json.loads(line)
            yield Case(
                record["id"],
                record["kind"],
                _source(record),
                frozenset((record["expect"], *record.get("also_ok", ()))),
                tuple(record.get("accepts", ())),
                tuple(record.get("rejects", ())),
                tuple(record.get("dead", ())),
            )


def _source(record: Mapping[str, object]) -> str | None:
    if "b64" in record:
        try:
            return base64.b64decode(str(record["b64"])).decode()
        except UnicodeDecodeError:
            return None
    if "text" in record:
        return str(record["text"])
    parts = record["parts"]
    assert isinstance(parts, list)
    return "".join(map(_piece, parts))


def _piece(part: str | dict[str, object]) -> str:
    if isinstance(part, str):
        return part
    count = part["n"]
    assert isinstance(count, int)
    if "rep" in part:
        return str(part["rep"]) * count
    each = str(part["each"])
    return str(part.get("sep", "")).join(
        each.replace("<<i>>", str(i)).replace("<<i+1>>", str(i + 1)) for i in range(count)
    )


def judge(compiler: Compiler, spelling: Spelling, case: Case) -> Finding:
    """Compile a case and try it out."""
    assert case.source is not None
    try:
        grammar = compiler.compile(Constraint(Kind(case.kind), case.source))
    except GrammarError as error:
        answer = "unsatisfiable" if isinstance(error, Unsatisfiable) else "rejected"
        wrong = "" if answer in case.right else f"{answer}: {error.message[:200]}"
        return Finding(answer, wrong)
    if "compiles" not in case.right:
        return Finding("compiles", f"compiles, not {' or '.join(sorted(case.right))}")
    try:
        return Finding("compiles", try_out(grammar, spelling, case))
    except GrammarError as error:
        return Finding("compiles", f"late: {type(error).__name__}: {error.message[:200]}")


def in_worker(isolated: ExaminationPool, case: Case) -> tuple[Finding, float]:
    """(the verdict of a killable worker on a case, its processor seconds; by the clock if it was cut off)."""
    assert case.source is not None
    by_clock, verdict = _examined(isolated, Constraint(Kind(case.kind), case.source))
    # Other processes of this machine may keep a worker waiting, which says nothing about the case.
    seconds = verdict.seconds or by_clock
    answer = "compiles" if verdict.code is None else "rejected"
    answer = "unsatisfiable" if verdict.code == Unsatisfiable.code else answer
    wrong = "" if answer in case.right else f"{answer}: {verdict.message[:200]}"
    if seconds > LIMITS.cpu_s:
        wrong = f"took {seconds:.1f} s"
    return Finding(answer, wrong), seconds


def _examined(isolated: ExaminationPool, constraint: Constraint) -> tuple[float, Verdict]:
    """(seconds by the clock, verdict) of an examination that had a processor; on a busy machine, of a later one."""
    for _ in range(_PATIENCE):
        begun = time.monotonic()
        try:
            verdict = isolated.examine(constraint)
        except CompilerBusy:
            continue
        return time.monotonic() - begun, verdict
    raise CompilerBusy(f"this machine had no processor for an examination, {_PATIENCE} times")


def try_out(grammar: CompiledGrammar, spelling: Spelling, case: Case) -> str:
    """What is wrong with a grammar, empty if nothing is."""
    for text in case.accepts:
        taken, legal = follow(grammar, spelling, text)
        if not taken:
            return f"refuses {text[:60]!r}"
        if not legal:
            return f"a mask is too narrow on the way to {text[:60]!r}"
    for text in case.rejects:
        if follow(grammar, spelling, text)[0]:
            return f"takes {text[:60]!r}"
    for text in case.dead:
        if follow(grammar, spelling, text, whole=False)[0]:
            return f"lets {text[:60]!r} through, after which nothing is complete"
    return wander(grammar, spelling, case.name)


def follow(
    grammar: CompiledGrammar, spelling: Spelling, text: str, *, whole: bool = True
) -> tuple[bool, bool]:
    """(whether the text is taken, whether all masks had its tokens)."""
    row = empty_rows(1, spelling.vocabulary.width)[0]
    matcher, legal = grammar.matcher(), True
    end = spelling.vocabulary.end_ids[:1] if whole else ()
    for token in (*spelling.spell(text.encode()), *end):
        matcher.fill(row)
        seen = bool(row.view("uint32")[token // 32] >> token % 32 & 1)
        try:
            matcher.accept(token)
        except Violation:
            assert not seen, "a mask has a token that the matcher refuses"
            return False, True
        legal &= seen
    return True, legal


def wander(grammar: CompiledGrammar, spelling: Spelling, seed: str) -> str:
    """A random legal walk; each place has a legal token, and from the last the way to the end is legal too."""
    choose, matcher = random.Random(seed), grammar.matcher()
    width = spelling.vocabulary.width
    row = empty_rows(1, width)[0]
    for _ in range(_WALK):
        matcher.fill(row)
        legal = allowed_tokens(row, width)
        if not len(legal):
            return "" if matcher.finished else "a dead end"
        matcher.accept(int(choose.choice(legal)))
    for token in matcher.closing() or ():
        matcher.accept(token)
    return ""
