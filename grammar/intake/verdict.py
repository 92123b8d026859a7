"""What is known of a constraint once it has been examined: plain data that may cross processes and be kept on disk.

Does: examine a constraint by going the whole way once, from the screen to outputs on trial (`trial`); write
verdicts and constraints as bytes and read them back. Does not: hold machines or masks, which are made where they are
used; decide where an examination runs (`isolation`) or keep what came out (`store`, `admission`).
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ..compiler.frontend import Screened, screen
from ..contract.constraint import Constraint, Kind
from ..contract.coverage import Coverage
from ..contract.errors import (
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
)
from .trial import attempt

if TYPE_CHECKING:
    from ..compiler.compile import Compiler

_OBJECT_BYTES: Final = 700  # of a verdict, its key and its place among others, besides texts
_SMALLER: Final = "make it smaller or simpler: fewer alternatives, lower bounds, shorter patterns"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of an examination.

    `code` names the class of the error, None for a constraint that can be used; `message` and `refusals` are the
    error's. `shortest` is a short complete output, where one is known. `seconds` is the processor time that it took.
    `final` is false where the examination was cut off: the same constraint might fare better another time. `coverage`
    tells which keywords of a JSON Schema that can be used are enforced.
    """

    code: str | None = None
    message: str = ""
    refusals: tuple[Refusal, ...] = ()
    shortest: bytes | None = None
    seconds: float = 0.0
    final: bool = True
    coverage: Coverage | None = None

    @property
    def error(self) -> GrammarError | None:
        """What to raise; a new one each time."""
        return None if self.code is None else error_of(self.code, self.message, self.refusals)

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory."""
        texts = sum(len(text) for r in self.refusals for text in asdict(r).values())
        covered = 0 if self.coverage is None else self.coverage.size_bytes
        return _OBJECT_BYTES + len(self.message) + texts + len(self.shortest or b"") + covered


_CLASSES: Final[dict[str, type[GrammarError]]] = {
    kind.code: kind
    for kind in (
        GrammarError,
        InvalidConstraint,
        UnsupportedConstraint,
        ConstraintTooLarge,
        Unsatisfiable,
    )
}


def error_of(code: str, message: str, refusals: tuple[Refusal, ...]) -> GrammarError:
    """The error of a code.

    Raises:
        ValueError: there is no such code.
    """
    if code not in _CLASSES:
        raise ValueError(f"there is no error {code!r}")
    return _CLASSES[code](message, refusals)


def _refusal(error: GrammarError, seconds: float = 0.0) -> Verdict:
    """The verdict that an error stands for."""
    return Verdict(error.code, error.message, error.refusals, seconds=seconds)


def cut_off(reason: str) -> Verdict:
    """The verdict on a constraint whose examination went over a limit."""
    where = (Refusal("", "", reason, _SMALLER),)
    return Verdict(ConstraintTooLarge.code, f"{reason}; {_SMALLER}", where, final=False)


def examine(
    compiler: "Compiler", constraint: Constraint, clock: Callable[[], float] = time.process_time
) -> Verdict:
    """Compile a constraint and write some outputs on trial, as a request that uses it would.

    `clock` gives seconds of processor time: of the process, or of this thread where the process does other work too.
    Any error of the grammar is a verdict; other exceptions are bugs and are raised. A grammar that goes to another
    library is screened only.
    """
    begun = clock()
    try:
        found = screen(constraint)
        shortest = _try(compiler, found, clock)
    except GrammarError as error:
        return _refusal(error, clock() - begun)
    except (MemoryError, RecursionError):
        return cut_off("compiling this takes more memory or depth than allowed")
    seconds = clock() - begun
    return Verdict(shortest=shortest, seconds=seconds, coverage=found.coverage)


def _try(compiler: "Compiler", screened: Screened, clock: Callable[[], float]) -> bytes | None:
    if screened.root is None:
        return None  # another library's compiler takes what it wants: it is not tried here
    grammar = compiler.build(screened)
    attempt(grammar, compiler.vocabulary.width, clock)
    return compiler.shortest(grammar)


def screened(constraint: Constraint) -> Verdict:
    """As far as can be told without a vocabulary, in this process and without a limit of time."""
    begun = time.process_time()
    try:
        found = screen(constraint)
    except GrammarError as error:
        return _refusal(error, time.process_time() - begun)
    if found.release is not None:
        found.release()
    return Verdict(seconds=time.process_time() - begun, coverage=found.coverage)


def encode_constraint(constraint: Constraint) -> bytes:
    """As JSON; texts that are not UTF-8 survive."""
    return json.dumps(asdict(constraint)).encode()


def decode_constraint(data: bytes) -> Constraint:
    """The inverse of `encode_constraint`.

    Raises:
        ValueError, TypeError, KeyError: `data` is no constraint.
    """
    value: dict[str, Any] = json.loads(data)
    value["kind"] = Kind(value["kind"])
    for field in fields(Constraint):  # JSON has neither enumerations nor tuples
        if isinstance(field.default, Enum):
            value[field.name] = type(field.default)(value[field.name])
        elif isinstance(field.default, tuple):
            value[field.name] = tuple(tuple(item) for item in value[field.name])
    return Constraint(**value)


def encode_verdict(verdict: Verdict) -> bytes:
    """As JSON."""
    value = asdict(verdict)
    value["shortest"] = None if verdict.shortest is None else verdict.shortest.decode("latin-1")
    return json.dumps(value).encode()


def decode_verdict(data: bytes) -> Verdict:
    """The inverse of `encode_verdict`.

    Raises:
        ValueError, TypeError, KeyError: `data` is no verdict.
    """
    value: dict[str, Any] = json.loads(data)
    code, shortest = value.pop("code"), value.pop("shortest")
    covered = value.pop("coverage")
    verdict = Verdict(
        code=code,
        refusals=tuple(Refusal(**refusal) for refusal in value.pop("refusals")),
        shortest=None if shortest is None else shortest.encode("latin-1"),
        coverage=None if covered is None else Coverage.decode(covered),
        **value,
    )
    _ = verdict.error  # its code has to be known
    return verdict
