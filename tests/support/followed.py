"""Instances of schemas followed by matchers of the host: tables for a device, tokens, and the mask before each of them.

Does: compile and export one schema of JSONSchemaBench in one form, and follow its instances, within a limit of
processor time. Does not: load torch, so that processes forked from one that holds `kit` cost little.
"""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from types import FrameType
from typing import Final

import numpy as np
import numpy.typing as npt
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import GrammarError, Violation, empty_rows
from intaglio.grammar.backends.native import NativeGrammar
from intaglio.grammar.backends.token_spelling import Speller
from intaglio.grammar.compiler.compile import Compiler
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.device.device_tables import DeviceTables, HostOnly, Lookahead
from intaglio.grammar.device.export import export
from intaglio.grammar.jsonschema.read.values import Json, read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.grammar.machine.machine import Machine
from intaglio.grammar.mask.compute_masks import TokenIndex

from tests.support.tokens import large, small

FORMS: Final = {"default": Options(), "closed": Options(extra_properties=False)}
INSTANCES: Final = 2  # followed of each schema
# What tables tell the host alone: it is not sent.
_NONE: Final = np.zeros(0, np.int32)
_UNSEEN: Final = Lookahead(_NONE, _NONE, _NONE, _NONE, _NONE.astype(np.uint8), _NONE)

REFUSED, HOST_ONLY, EXPORTED, TOO_SLOW = "refused", "host only", "exported", "too slow"


class TooSlow(BaseException):
    """The limit of processor time. Not an Exception: no handler on the way may catch it as its own error."""


@dataclass(frozen=True)
class Task:
    """One schema, a line of the file, in one form. `seconds`: of processor time; `steps`: tokens of an instance."""

    line: bytes
    form: str
    steps: int
    seconds: float
    tiny: bool = False


@dataclass(frozen=True)
class Followed:
    """One instance. Before `tokens[i]` the mask was `rows[which[i]]`; -1 is no token.

    `tokens` int64 [n], `which` int32 [n], `rows` int32 [distinct, words]. Only the last token may be illegal.
    """

    name: str
    tokens: npt.NDArray[np.int64]
    which: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task. `tables` and `instances` where it was exported; `reason` where it stays on the host."""

    name: str
    form: str
    verdict: str
    reason: str = ""
    tables: DeviceTables | None = None
    instances: list[Followed] = field(default_factory=list)


@dataclass(frozen=True)
class Kit:
    """The objects that all schemas share."""

    tokenizer: Tokenizer
    vocabulary: Vocabulary
    index: TokenIndex
    speller: Speller


def width_of(*, tiny: bool) -> int:
    """Bits of a mask."""
    return 704 if tiny else 151_936


@cache
def kit(*, tiny: bool) -> Kit:
    """Made once in a process; processes forked from it share it."""
    tokenizer = small() if tiny else large()
    known = tokenizer.vocabulary(width_of(tiny=tiny))
    return Kit(tokenizer, known, TokenIndex(known, 1 << 27), Speller(known, tokenizer.canonical))


def warm(*, tiny: bool) -> None:
    """Load the kit and all compiled code of the host, which is compiled first where the machine has none."""
    shared = kit(tiny=tiny)
    Compiler(shared.vocabulary, shared.tokenizer.canonical).warm()


Steps = Callable[[str, dict[str, Json], Task], Outcome]


def follow(task: Task, steps: Steps | None = None) -> Outcome:
    """Compile, export and follow a task within its time. `steps` replaces `_follow` if given."""
    record = read(task.line)
    assert isinstance(record, dict)
    name = str(record["id"])
    try:
        with limited(task.seconds):
            return (steps or _follow)(name, record, task)
    except TooSlow:
        kit.cache_clear()  # it was left in the middle of something
        return Outcome(name, task.form, TOO_SLOW)


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises TooSlow in the body after so much of the process' time. For main threads only."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _follow(name: str, record: dict[str, Json], task: Task) -> Outcome:
    shared = kit(tiny=task.tiny)
    try:
        root = Language(record["schema"], FORMS[task.form]).root
        tables = export(root)
        grammar = NativeGrammar(Machine(root), shared.index, shared.speller)
    except GrammarError as error:
        return Outcome(name, task.form, REFUSED, str(error))
    if isinstance(tables, HostOnly):
        return Outcome(name, task.form, HOST_ONLY, tables.reason)
    tests = record["tests"]
    assert isinstance(tests, list)
    valid = [test["data"] for test in tests if isinstance(test, dict) and test["valid"]]
    texts = [
        json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
        for value in valid[:INSTANCES]
    ]
    instances = [
        _instance(f"{name}/{number} {task.form}", grammar, text, task)
        for number, text in enumerate(texts or [""])  # without an instance: before the first token
    ]
    sent = replace(tables, lookahead=_UNSEEN)
    return Outcome(name, task.form, EXPORTED, "", sent, instances)


def _instance(name: str, grammar: NativeGrammar, text: str, task: Task) -> Followed:
    """Along a text, its end, and what may follow the end; or up to the first token that is not legal."""
    shared = kit(tiny=task.tiny)
    tokens = [*shared.tokenizer.encode(text)[: task.steps], *shared.vocabulary.end_ids[:1], -1]
    matcher, which = grammar.matcher(), []
    rows: dict[bytes, int] = {}
    row = empty_rows(1, shared.vocabulary.width)[0]
    for token in tokens:
        matcher.fill(row)
        which.append(rows.setdefault(row.tobytes(), len(rows)))
        try:
            matcher.accept(token)
        except Violation:
            break
    return Followed(
        name,
        np.array(tokens[: len(which)], np.int64),
        np.array(which, np.int32),
        np.frombuffer(bytearray(b"".join(rows)), np.int32).reshape(len(rows), -1),
    )
