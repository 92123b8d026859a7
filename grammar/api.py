"""The names of this package that others may use."""

from typing import TYPE_CHECKING, Any

from .base.parts import Parts, while_worth, whole
from .base.strict_json import InvalidJson, parse_json
from .cache.grammar_cache import CacheStats, GrammarCache
from .cfg.document_shapes import (
    any_json,
    csv_table,
    json_patch,
    markdown_table,
    ready_grammar,
    sql_select,
    xml_document,
)
from .cfg.ready_grammars import READY, ready_source
from .compiler.compile import Compiler
from .compiler.device_export import followers, tables_of
from .compiler.frontend import Screened, screen
from .contract.bitmask import (
    MaskRow,
    MaskRows,
    allow,
    allowed_tokens,
    empty_rows,
    is_allowed,
    words,
)
from .contract.constraint import Constraint, KeyOrder, Kind, Whitespace
from .contract.coverage import Coverage
from .contract.errors import (
    CompilerBusy,
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    TablesFull,
    Unsatisfiable,
    UnsupportedConstraint,
    Violation,
)
from .contract.matcher import CompiledGrammar, Matcher
from .contract.vocabulary import Vocabulary
from .device.device_tables import DeviceTables, HostOnly, Lookahead
from .intake.explain import TIERS, Explanation, Finding, explain, judge
from .intake.gate import GateLimits, VerdictCache
from .intake.isolation import WORKER, ExaminationPool, WorkerFailure, WorkerLimits
from .intake.verdict import Verdict, examine, screened
from .intake.verdict_store import Store, StoreUnusable

if TYPE_CHECKING:  # loads compiled code
    from .device.followers import Followers as Followers
    from .jit.kernel import arithmetic_kernel as arithmetic_kernel
    from .jit.kernel import brief_kernel as brief_kernel
    from .jit.kernel import summing_kernel as summing_kernel
    from .jit.machine_code import CompiledLoops as CompiledLoops
    from .jit.machine_code import compiled_loops as compiled_loops

__all__ = [
    "READY",
    "TIERS",
    "VerdictCache",
    "GateLimits",
    "CacheStats",
    "CompiledGrammar",
    "Compiler",
    "CompilerBusy",
    "Constraint",
    "Coverage",
    "ConstraintTooLarge",
    "DeviceTables",
    "Lookahead",
    "Explanation",
    "Finding",
    "GrammarCache",
    "GrammarError",
    "HostOnly",
    "InvalidConstraint",
    "InvalidJson",
    "ExaminationPool",
    "KeyOrder",
    "Kind",
    "WorkerLimits",
    "MaskRow",
    "MaskRows",
    "Matcher",
    "Parts",
    "Refusal",
    "Screened",
    "Store",
    "StoreUnusable",
    "TablesFull",
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
    "arithmetic_kernel",
    "brief_kernel",
    "compiled_loops",
    "csv_table",
    "empty_rows",
    "examine",
    "explain",
    "followers",
    "is_allowed",
    "json_patch",
    "judge",
    "markdown_table",
    "parse_json",
    "ready_grammar",
    "ready_source",
    "screen",
    "screened",
    "sql_select",
    "tables_of",
    "whole",
    "while_worth",
    "words",
    "xml_document",
]


def __getattr__(name: str) -> Any:
    if name in ("arithmetic_kernel", "brief_kernel", "summing_kernel"):
        from .jit import kernel

        return getattr(kernel, name)
    if name == "compiled_loops":
        from .jit.machine_code import compiled_loops

        return compiled_loops
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
