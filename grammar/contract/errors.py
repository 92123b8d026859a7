"""The errors of constraints and matchers.

GrammarError
├── InvalidConstraint      the source is not a schema, pattern or grammar
├── UnsupportedConstraint  the source is valid, but a part of it cannot be enforced; each such part is listed
├── ConstraintTooLarge     compiling exceeded a limit of states, bytes or time
│   └── TablesFull         a machine has reached the limit of its tables
├── Unsatisfiable          no output can match
├── Violation              a matcher was given a token that the grammar does not allow
└── CompilerBusy           the constraint was not compiled in time, for the load of the machine
"""

from dataclasses import astuple, dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Refusal:
    """One part of a constraint that is refused.

    `where`: a JSON Pointer (RFC 6901) into the schema, or an offset such as `char 12` into a pattern or grammar.
    `keyword`: the JSON Schema keyword or the construct. `hint`: how to change the constraint.
    """

    where: str
    keyword: str
    reason: str
    hint: str


class GrammarError(Exception):
    """Base class of all errors of this package; `code` is stable and part of the API."""

    code = "grammar_error"

    def __init__(self, message: str, refusals: tuple[Refusal, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.refusals = refusals

    @property
    def size_bytes(self) -> int:
        """Memory of the texts, in bytes by estimate."""
        texts = sum(len(text) for refusal in self.refusals for text in astuple(refusal))
        return len(self.message) + texts

    def copy(self) -> Self:
        """A new error with the same content and no traceback.

        A cached error that is raised again and again collects the frames of every place that raises it, with all their
        variables. So each caller gets a copy.
        """
        return type(self)(self.message, self.refusals)


class InvalidConstraint(GrammarError):
    """The source is not a JSON Schema, pattern or grammar."""

    code = "invalid_constraint"


class UnsupportedConstraint(GrammarError):
    """A part of the source cannot be enforced; `refusals` lists each such part."""

    code = "unsupported_constraint"


class ConstraintTooLarge(GrammarError):
    """Compiling exceeded a limit of states, bytes or time."""

    code = "constraint_too_large"


class TablesFull(ConstraintTooLarge):
    """The tables of a machine have reached their limit; a new machine of the same rules may suffice."""

    code = "tables_full"


class Unsatisfiable(GrammarError):
    """No output can match the constraint."""

    code = "unsatisfiable_constraint"


class Violation(GrammarError):
    """A matcher was given a token that its grammar does not allow at this position."""

    code = "grammar_violation"


class CompilerBusy(GrammarError):
    """The machine is too busy to compile a constraint now; the constraint may be valid."""

    code = "compiler_busy"
