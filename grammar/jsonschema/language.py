"""One schema as a language of JSON texts: the rules, leaves and searches of a compilation behind one door.

Does: own what the rules of one schema share, and make each rule once. Does not: hold automaton tables (`machine`).
"""

from collections.abc import Mapping

from ..errors import Refusal, Unsatisfiable
from .arrays import Sequence
from .costs import Costs
from .dialects import DRAFT2020, Dialect
from .evaluate import Judge
from .formula import Formula
from .keys import Keys, keys
from .leaves import Leaves
from .normal import Normal
from .objects import Between, Layout
from .options import Options, Whitespace
from .predicates import Predicates
from .residual import Fold, Restriction
from .resolve import Schemas
from .rules import ValueRule
from .survey import survey
from .values import Json


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
        self.judge = Judge(Predicates())
        self.restriction = Restriction(self.normal.pool)
        self.leaves = Leaves(self)
        pretty = self.options.whitespace is Whitespace.PRETTY
        self.costs = Costs(self, self.options.indent if pretty else None)
        self.enforced = survey(self.normal)
        self._layouts: dict[Fold, Layout] = {}
        self._sequences: dict[Fold, Sequence] = {}
        self._rules: dict[tuple[Formula, tuple[Formula, ...], int], ValueRule] = {}
        self._keys: dict[tuple[Layout, Between], Keys | None] = {}
        if self.costs.value(self.normal.root.formula) is None:
            raise Unsatisfiable(
                "no value is valid against this schema",
                (
                    Refusal(
                        "", "", "no value is valid", "look for demands that contradict each other"
                    ),
                ),
            )

    @property
    def root(self) -> ValueRule:
        """The rule of a whole valid text."""
        return self.rule(self.normal.root.formula, (), 0)

    @property
    def lenient(self) -> bool:
        """Whether white space may stand before a colon."""
        return self.options.whitespace is Whitespace.LENIENT

    @property
    def colon(self) -> bytes:
        """What stands between a name and its value where that is fixed."""
        return b": " if self.options.whitespace is Whitespace.PRETTY else b":"

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

    def sequence(self, fold: Fold) -> Sequence:
        """The items of arrays that fulfil a fold."""
        sequence = self._sequences.get(fold)
        if sequence is None:
            sequence = self._sequences[fold] = Sequence(self, fold)
        return sequence

    def keys(self, layout: Layout, state: Between) -> Keys | None:
        """The names that can come next in a state of an object."""
        if (layout, state) not in self._keys:
            self._keys[layout, state] = keys(self, layout, state)
        return self._keys[layout, state]
