"""The names of this package that others may use."""

from typing import TYPE_CHECKING, Any

from .admission import Admission
from .cache import CacheStats, GrammarCache
from .compile import Compiler
from .coverage import Coverage
from .device import DeviceTables, HostOnly, followers, tables_of
from .errors import (
    CompilerBusy,
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
    Violation,
)
from .explain import TIERS, Explanation, Finding, explain, judge
from .isolation import WORKER, Isolated, Limits, WorkerFailure
from .jsontext import InvalidJson, parse_json
from .masks import MaskRow, MaskRows, allow, allowed_tokens, empty_rows, is_allowed, words
from .matcher import CompiledGrammar, Matcher
from .ready import any_json, csv_table, sql_select, xml_document
from .screen import Screened, screen
from .spec import Constraint, KeyOrder, Kind, Whitespace
from .store import Store, StoreUnusable
from .verdict import Verdict, examine, screened
from .vocabulary import Vocabulary

if TYPE_CHECKING:  # loads compiled code
    from .automata.jit import brief_kernel as brief_kernel
    from .automata.machine_code import CompiledLoops as CompiledLoops
    from .automata.machine_code import compiled_loops as compiled_loops
    from .followers import Followers as Followers

__all__ = [
    "TIERS",
    "Admission",
    "CacheStats",
    "CompiledGrammar",
    "Compiler",
    "CompilerBusy",
    "Constraint",
    "Coverage",
    "ConstraintTooLarge",
    "DeviceTables",
    "Explanation",
    "Finding",
    "GrammarCache",
    "GrammarError",
    "HostOnly",
    "InvalidConstraint",
    "InvalidJson",
    "Isolated",
    "KeyOrder",
    "Kind",
    "Limits",
    "MaskRow",
    "MaskRows",
    "Matcher",
    "Refusal",
    "Screened",
    "Store",
    "StoreUnusable",
    "Unsatisfiable",
    "UnsupportedConstraint",
    "Verdict",
    "Violation",
    "Vocabulary",
    "WORKER",
    "Whitespace",
    "WorkerFailure",
    "allow",
    "allowed_tokens",
    "any_json",
    "brief_kernel",
    "compiled_loops",
    "csv_table",
    "empty_rows",
    "examine",
    "explain",
    "followers",
    "is_allowed",
    "judge",
    "parse_json",
    "screen",
    "screened",
    "sql_select",
    "tables_of",
    "words",
    "xml_document",
]


def __getattr__(name: str) -> Any:
    if name == "brief_kernel":
        from .automata.jit import brief_kernel

        return brief_kernel
    if name == "compiled_loops":
        from .automata.machine_code import compiled_loops

        return compiled_loops
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
