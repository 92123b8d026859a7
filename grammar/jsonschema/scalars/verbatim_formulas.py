"""Formulas about verbatim strings, as strings that follow the document.

Does: split a conjunction into the document, the bounds on length and an automaton for all the rest. Does not: follow
strings (`verbatim_strings`), decide formulas in which other strings are alternatives: they are refused.
"""

from ...base.placeholder import PLACEHOLDER
from ...contract.errors import Refusal, UnsupportedConstraint
from ...leaves.document_text import document_text
from ..logic.atoms import Length, Verbatim
from ..logic.formula import Formula, Op, Pool
from ..read.dialects import EXTENSION
from .opaque import opaque
from .string_formulas import StringAutomata, misplaced
from .verbatim_strings import VerbatimString


def is_verbatim(formula: Formula) -> bool:
    """Whether a formula, restricted to strings, mentions the document."""
    return any(isinstance(part.atom, Verbatim) for part in formula.atoms)


def verbatim_string(pool: Pool, strings: StringAutomata, formula: Formula) -> VerbatimString:
    """The strings that satisfy `formula`, which mentions the document.

    Raises:
        UnsupportedConstraint: not every such string is verbatim, or one has a format that no automaton decides.
        ConstraintTooLarge: the document is too long, or too many substrings match a pattern.
    """
    source = next(part.atom for part in formula.atoms if isinstance(part.atom, Verbatim))
    if _given(pool, formula, pool.false) is not pool.false:
        raise misplaced(source)
    others = _given(pool, formula, pool.true)
    if any(opaque(part.atom) for part in others.atoms):
        raise _undecided(source)
    parts = others.args if others.op is Op.ALL else (others,)
    lengths = [part.atom for part in parts if isinstance(part.atom, Length)]
    rest = [part for part in parts if not isinstance(part.atom, Length) and part is not pool.true]
    least = max((bound.least for bound in lengths), default=0)
    most = min((bound.most for bound in lengths if bound.most is not None), default=None)
    chars = strings.of(pool.all(rest)) if rest else None
    document = source.document
    if document == PLACEHOLDER and chars is not None:
        # An unsatisfiable schema is not the fault of a document in which nothing matches.
        match = strings.of(pool.all([*rest, *(pool.of(bound) for bound in lengths)])).shortest()
        document += "".join(map(chr, match or ()))
    return VerbatimString(document_text(document), chars, least, most)


def _given(pool: Pool, formula: Formula, verbatim: Formula) -> Formula:
    """The formula for strings that are verbatim, or for all others."""
    return pool.replace(formula, lambda atom: verbatim if isinstance(atom, Verbatim) else None)


def _undecided(atom: Verbatim) -> UnsupportedConstraint:
    reason = "a verbatim string cannot have a format that is judged at its end"
    refusal = Refusal(atom.where, EXTENSION, reason, "use a pattern instead of the format")
    return UnsupportedConstraint(f"{atom.where}: {reason}", (refusal,))
