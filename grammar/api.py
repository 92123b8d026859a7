"""The names of this package that others may use."""

from .errors import (
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
    Violation,
)
from .masks import MaskRow, MaskRows, allow, allowed_tokens, empty_rows, is_allowed, words
from .matcher import CompiledGrammar, Matcher
from .spec import Constraint, Kind, Whitespace
from .vocabulary import Vocabulary

__all__ = [
    "CompiledGrammar",
    "Constraint",
    "ConstraintTooLarge",
    "GrammarError",
    "InvalidConstraint",
    "Kind",
    "MaskRow",
    "MaskRows",
    "Matcher",
    "Refusal",
    "Unsatisfiable",
    "UnsupportedConstraint",
    "Violation",
    "Vocabulary",
    "Whitespace",
    "allow",
    "allowed_tokens",
    "empty_rows",
    "is_allowed",
    "words",
]
