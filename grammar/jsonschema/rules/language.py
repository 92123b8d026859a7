"""One schema as a language of JSON texts: the rules, leaves and searches of a compilation behind one door.

Does: own what the rules of one schema share, and make each rule once. Does not: hold automaton tables (`machine`).
"""

from collections.abc import Mapping
from contextlib import suppress
from time import thread_time
from typing import Final, NoReturn

from ...contract.errors import GrammarError, Refusal, Unsatisfiable, UnsupportedConstraint
from ..arrays.arrays import ArrayLanguage
from ..logic.formula import Formula
from ..logic.normalize import Normal
from ..logic.residual import Fold, Restriction
from ..objects.name_leaves import NameLeaves
from ..objects.objects import Layout
from ..read.dialects import DRAFT2020, Dialect
from ..read.resolve import Schemas
from ..read.values import Json
from ..read.writing_options import Options
from ..report.survey import survey
from ..scalars.finite import Finite
from ..scalars.scalar_leaves import ScalarLeaves, dear
from ..scalars.string_formulas import Texts
from .costs import Costs
from .value_rule import ValueRule

# For leaves that are made before text reaches them.
_AHEAD_S: Final = 0.003


class Language:
    """The texts that are valid against a schema. `root` is the rule of the whole output."""

    def __init__(
        self,
        schema: Json,
        options: Options | None = None,
        registry: Mapping[str, Json] | None = None,
        dialect: Dialect = DRAFT2020,
    ) -> None:
        """`schema`: as `values.read` gives it; `registry`: other documents by URI; `dialect`: without `$schema`.

        Raises:
            InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge, Unsatisfiable: told by JSON Pointer.
        """
        self.options = options or Options()
        self.normal = Normal(Schemas(schema, registry, dialect), self.options.formats)
        self.restriction = Restriction(self.normal.pool)
        self.texts = Texts()
        self.scalars = ScalarLeaves(self)
        self.names = NameLeaves(self)
        self.finite = Finite(self)
        self.costs = Costs(self, self.options.indent if self.options.pretty else None)
        self.enforced = survey(self.normal)
        self._layouts: dict[Fold, Layout] = {}
        self._sequences: dict[Fold, ArrayLanguage] = {}
        self._rules: dict[tuple[Formula, tuple[Formula, ...], int], ValueRule] = {}
        if self.costs.value(self.normal.root.formula) is None:
            self._refuse()
        self._build_ahead(_AHEAD_S)

    def _build_ahead(self, seconds: float) -> None:
        """Make the leaves that take long while nobody waits in the middle of an output, as far as there is time."""
        until = thread_time() + seconds
        for formula in self.normal.reached:
            if thread_time() > until:
                return
            if dear(formula):
                # Too large by itself, it may yet be small together with what else is asked at its place.
                with suppress(GrammarError):
                    self.scalars.of(formula, ())

    def _refuse(self) -> NoReturn:
        if self.costs.overlooked:
            reason = "that two items have to be equal cannot be enforced"
            refusal = Refusal("", "uniqueItems", reason, "ask for equal items by `const` or `enum`")
            raise UnsupportedConstraint(reason, (refusal,))
        if self.names.unsure:
            reason = f"that a name lacks the format {min(self.names.unsure)} cannot be enforced"
            refusal = Refusal("", "propertyNames", reason, "give a pattern instead")
            raise UnsupportedConstraint(reason, (refusal,))
        hint = "look for demands that contradict each other"
        refusal = Refusal("", "", "no value is valid", hint)
        raise Unsatisfiable("no value is valid against this schema", (refusal,))

    def release(self) -> None:
        """Break the reference cycles between this object and its parts. Nothing may be asked of any of them afterwards.

        Without it they would wait for the cycle collector, some 50 KiB a schema.
        """
        self.normal.pool.release()
        searches = self.finite, self.costs, self.restriction
        leaves = self.texts, self.scalars, self.names
        places = *self._layouts.values(), *self._sequences.values()
        for part in (self, self.normal, *searches, *leaves, *places):
            vars(part).clear()

    @property
    def root(self) -> ValueRule:
        """The rule of a whole valid text."""
        return self.rule(self.normal.root.formula, (), 0)

    def rule(self, must: Formula, asks: tuple[Formula, ...], depth: int) -> ValueRule:
        """The rule of values that fulfil `must`, whose outcomes tell the truth of `asks`."""
        key = (must, asks, depth)
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = ValueRule(self, must, asks, depth)
        return rule

    def layout(self, fold: Fold) -> Layout:
        """The names of objects that fulfil a fold."""
        layout = self._layouts.get(fold)
        if layout is None:
            layout = self._layouts[fold] = Layout(self, fold)
        return layout

    def sequence(self, fold: Fold) -> ArrayLanguage:
        """The items of arrays that fulfil a fold."""
        sequence = self._sequences.get(fold)
        if sequence is None:
            sequence = self._sequences[fold] = ArrayLanguage(self, fold)
        return sequence
