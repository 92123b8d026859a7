"""Everything that can go wrong with a constraint.

GrammarError
├── InvalidConstraint      the source is not a schema, pattern or grammar at all
├── UnsupportedConstraint  it is one, but something in it cannot be enforced; each refusal is named
├── ConstraintTooLarge     compiling it went over a limit of states, bytes or time
├── Unsatisfiable          no output can ever match
├── Violation              a token was offered that the grammar does not allow
└── CompilerBusy           too many constraints wait to be compiled
"""

from dataclasses import astuple, dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Refusal:
    """One thing in a constraint that is refused.

    `where` is a JSON Pointer (RFC 6901) into the schema, or an offset such as `char 12` into a pattern or grammar;
    `keyword` is the JSON Schema keyword or the construct; `hint` says how to change the constraint.
    """

    where: str
    keyword: str
    reason: str
    hint: str


class GrammarError(Exception):
    """Base of all errors of this package; `code` is stable and part of the API."""

    code = "grammar_error"

    def __init__(self, message: str, refusals: tuple[Refusal, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.refusals = refusals

    @property
    def size_bytes(self) -> int:
        """Bytes of its texts."""
        texts = sum(len(text) for refusal in self.refusals for text in astuple(refusal))
        return len(self.message) + texts

    def copy(self) -> Self:
        """A new error with the same content and no traceback.

        An error that is kept and raised again collects the frames of every place that raises it, with all their
        variables: each caller gets a copy.
        """
        return type(self)(self.message, self.refusals)


class InvalidConstraint(GrammarError):
    """The source is not a JSON Schema, pattern or grammar."""

    code = "invalid_constraint"


class UnsupportedConstraint(GrammarError):
    """The source asks for something that cannot be enforced; `refusals` names each such place."""

    code = "unsupported_constraint"


class ConstraintTooLarge(GrammarError):
    """Compiling went over a limit."""

    code = "constraint_too_large"


class Unsatisfiable(GrammarError):
    """No output can match the constraint."""

    code = "unsatisfiable_constraint"


class Violation(GrammarError):
    """A token was offered to a matcher that its grammar does not allow there."""

    code = "grammar_violation"


class CompilerBusy(GrammarError):
    """Too many constraints wait to be compiled: nothing is wrong with this one."""

    code = "compiler_busy"
