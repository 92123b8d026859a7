"""The names of this package that others may use."""

from .cache import CacheStats, GrammarCache
from .compile import Compiler
from .errors import (
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
    Violation,
)
from .explain import TIERS, Explanation, Finding, explain, judge
from .jsontext import InvalidJson, parse_json
from .masks import MaskRow, MaskRows, allow, allowed_tokens, empty_rows, is_allowed, words
from .matcher import CompiledGrammar, Matcher
from .screen import Screened, screen
from .spec import Constraint, KeyOrder, Kind, Whitespace
from .vocabulary import Vocabulary

__all__ = [
    "TIERS",
    "CacheStats",
    "CompiledGrammar",
    "Compiler",
    "Constraint",
    "ConstraintTooLarge",
    "Explanation",
    "Finding",
    "GrammarCache",
    "GrammarError",
    "InvalidConstraint",
    "InvalidJson",
    "KeyOrder",
    "Kind",
    "MaskRow",
    "MaskRows",
    "Matcher",
    "Refusal",
    "Screened",
    "Unsatisfiable",
    "UnsupportedConstraint",
    "Violation",
    "Vocabulary",
    "Whitespace",
    "allow",
    "allowed_tokens",
    "empty_rows",
    "explain",
    "is_allowed",
    "judge",
    "parse_json",
    "screen",
    "words",
]
