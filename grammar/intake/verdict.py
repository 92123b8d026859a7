"""The verdict on a constraint: the result of its examination, as plain data for other processes and the disk.

Does: examine a constraint from the front end to trial outputs (`trial`); encode verdicts and constraints as bytes and
decode them. Does not: hold machines or masks, which are made where they are used; decide where an examination runs
(`isolation`) or cache verdicts (`verdict_store`, `gate`).
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ..base.placeholder import PLACEHOLDER
from ..compiler.frontend import Screened, screen
from ..contract.constraint import Constraint, Kind
from ..contract.coverage import Coverage
from ..contract.errors import (
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    TablesFull,
    Unsatisfiable,
    UnsupportedConstraint,
)
from ..contract.work import PART, SMALLER, metered, spend
from .trial import MOST_WORK, attempt

if TYPE_CHECKING:
    from ..compiler.compile import Compiler

_OBJECT_BYTES: Final = 700  # memory of a cached verdict without its texts


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of an examination: accepted, or refused with an error.

    `code`: the code of the error class, None for an accepted constraint. `message` and `refusals`: those of the error.
    `shortest`: a short complete output, if one is known. `seconds` and `work`: the processor time of the examination,
    and its units of work. `final`: false if the examination was cut off by a limit, so that another one might succeed.
    `coverage`: the enforced and unenforced keywords of an accepted JSON Schema.
    """

    code: str | None = None
    message: str = ""
    refusals: tuple[Refusal, ...] = ()
    shortest: bytes | None = None
    seconds: float = 0.0
    work: int = 0
    final: bool = True
    coverage: Coverage | None = None

    @property
    def error(self) -> GrammarError | None:
        """The error to raise, a new one each time; None for an accepted constraint."""
        return None if self.code is None else error_of(self.code, self.message, self.refusals)

    @property
    def size_bytes(self) -> int:
        """Memory held, by estimate."""
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
        TablesFull,
        Unsatisfiable,
    )
}


def error_of(code: str, message: str, refusals: tuple[Refusal, ...]) -> GrammarError:
    """The error with a code.

    Raises:
        ValueError: the code is unknown.
    """
    if code not in _CLASSES:
        raise ValueError(f"unknown error code {code!r}")
    return _CLASSES[code](message, refusals)


def _refusal(error: GrammarError, seconds: float = 0.0, work: int = 0) -> Verdict:
    """The verdict that corresponds to an error."""
    return Verdict(error.code, error.message, error.refusals, seconds=seconds, work=work)


def cut_off(reason: str) -> Verdict:
    """The verdict after an examination that exceeded a limit."""
    where = (Refusal("", "", reason, SMALLER),)
    return Verdict(ConstraintTooLarge.code, f"{reason}; {SMALLER}", where, final=False)


def examinable(constraint: Constraint) -> Constraint:
    """The constraint with a placeholder for the document: its verdict holds for every document."""
    return constraint.about(PLACEHOLDER)


def examine(
    compiler: "Compiler", constraint: Constraint, clock: Callable[[], float] = time.process_time
) -> Verdict:
    """Compile a constraint and write some trial outputs, as a request that uses it would.

    `clock` gives seconds of processor time: of the process, or of this thread if the process does other work too. Any
    `GrammarError` becomes a verdict; other exceptions are bugs and are raised.
    """
    begun = clock()
    with metered(MOST_WORK) as meter:
        try:
            charge_source(constraint)
            found = screen(examinable(constraint))
            coverage = None if found.coverage is None else found.coverage()
            shortest = _try(compiler, found)
        except GrammarError as error:
            return _refusal(error, clock() - begun, meter.total)
        except (MemoryError, RecursionError):
            return cut_off("compiling the constraint takes more memory or depth than allowed")
    seconds = clock() - begun
    return Verdict(shortest=shortest, seconds=seconds, work=meter.total, coverage=coverage)


def charge_source(constraint: Constraint) -> None:
    """Charge the reading of a schema, by its members and elements."""
    if constraint.kind is Kind.JSON_SCHEMA:
        spend(PART * (constraint.source.count(",") + constraint.source.count(":")))


def _try(compiler: "Compiler", screened: Screened) -> bytes | None:
    grammar = compiler.build(screened)
    attempt(grammar, compiler.vocabulary.width)
    return compiler.shortest(grammar)


def screened(constraint: Constraint) -> Verdict:
    """The verdict of the front end alone, without a vocabulary, in this process and without a time limit."""
    begun = time.process_time()
    try:
        found = screen(examinable(constraint))
    except GrammarError as error:
        return _refusal(error, time.process_time() - begun)
    coverage = None if found.coverage is None else found.coverage()
    if found.release is not None:
        found.release()
    return Verdict(seconds=time.process_time() - begun, coverage=coverage)


def encode_constraint(constraint: Constraint) -> bytes:
    """Encode a constraint as JSON; lone surrogates survive the round trip."""
    return json.dumps(asdict(constraint)).encode()


def decode_constraint(data: bytes) -> Constraint:
    """The inverse of `encode_constraint`.

    Raises:
        ValueError, TypeError, KeyError: `data` is not a constraint.
    """
    value: dict[str, Any] = json.loads(data)
    value["kind"] = Kind(value["kind"])
    for field in fields(Constraint):  # JSON has neither enums nor tuples
        if isinstance(field.default, Enum):
            value[field.name] = type(field.default)(value[field.name])
        elif isinstance(field.default, tuple):
            value[field.name] = tuple(tuple(item) for item in value[field.name])
    return Constraint(**value)


def encode_verdict(verdict: Verdict) -> bytes:
    """Encode a verdict as JSON."""
    value = asdict(verdict)
    value["shortest"] = None if verdict.shortest is None else verdict.shortest.decode("latin-1")
    return json.dumps(value).encode()


def decode_verdict(data: bytes) -> Verdict:
    """The inverse of `encode_verdict`.

    Raises:
        ValueError, TypeError, KeyError: `data` is not a verdict.
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
    _ = verdict.error  # raises if the code is unknown
    return verdict
