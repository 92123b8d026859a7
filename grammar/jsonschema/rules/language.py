"""The language of JSON texts that are valid against one schema.

Does: compile a schema: survey its keywords, assemble the parts, make each rule once. Does not: hold automaton tables
(`machine`).
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Final

from ...contract.errors import (
    ConstraintTooLarge,
    GrammarError,
    Refusal,
    Unsatisfiable,
    UnsupportedConstraint,
)
from ...contract.work import metered
from ..arrays.equal_items import may_gain_anywhere, refused
from ..logic.formula import Formula
from ..logic.schema_formulas import SchemaFormulas
from ..objects.name_leaves import NameLeaves
from ..read.dialects import DRAFT2020, Dialect
from ..read.resolve import Schemas
from ..read.values import Json
from ..read.writing_options import Options
from ..report.contradiction import CONTRADICTORY, contradiction
from ..report.survey import Enforced, enforced, survey
from ..scalars.scalar_leaves import is_expensive
from ..scalars.shared import Shared
from .container_languages import ContainerLanguages
from .exploration import explore
from .value_rule import ValueRule

# Work of building expensive leaves at compilation, before generation reaches them.
_PREBUILT: Final = 3_000
_MOST_PREBUILT: Final = 10_000_000  # of all: automata have bounds of their own

_IN_DOCUMENT: Final = (
    "look whether the document has such a text: a verbatim string must occur in it"
)
_UNDECLARED: Final = (
    "declare the properties: objects have no others here unless extra_properties allows them"
)


class Language:
    """The texts that are valid against a schema. `root` is the rule of the whole output."""

    def __init__(
        self,
        schema: Json,
        options: Options | None = None,
        registry: Mapping[str, Json] | None = None,
        dialect: Dialect = DRAFT2020,
    ) -> None:
        """Compile `schema`, as `values.read` returns it.

        `registry`: other schema documents by URI. `dialect`: the draft of documents without `$schema`.

        Raises:
            InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge, Unsatisfiable: with JSON Pointers.
        """
        form = options or Options()
        self.formulas = SchemaFormulas(
            Schemas(schema, registry, dialect), form.formats, form.document
        )
        self.shared = Shared.of(self.formulas.pool, form)
        self._names = NameLeaves(self.shared, self.formulas.demanded)
        self._containers = ContainerLanguages(self.shared, self._names)
        survey(self.formulas)
        self._rules: dict[tuple[Formula, tuple[Formula, ...], int], ValueRule] = {}
        if self._containers.costs.of_value(self.formulas.root.formula) is None:
            self._refuse_overlooked()
            if form.extra_properties:
                raise self._unsatisfiable(_IN_DOCUMENT if form.document is not None else "")
            # Here an object has declared names only, which JSON Schema does not demand.
            with suppress(UnsupportedConstraint, ConstraintTooLarge):
                Language(schema, replace(form, extra_properties=True), registry, dialect).release()
                raise self._unsatisfiable(_UNDECLARED)
            raise self._unsatisfiable("")
        unique = self.formulas.mentions("uniqueItems")
        if unique and may_gain_anywhere(self.formulas.root.formula, self.shared.restriction):
            explore(self.root)
        self._prebuild()

    def _prebuild(self) -> None:
        """Build some expensive leaves at compilation: later they would delay a token."""
        with metered(_MOST_PREBUILT) as meter:
            until = meter.total + _PREBUILT
            for formula in self.formulas.reached:
                if meter.total > until:
                    return
                if is_expensive(formula):
                    # A formula too large by itself may be small enough in conjunction with the others at its place.
                    with suppress(GrammarError):
                        self.shared.scalars.of(formula, ())

    def _refuse_overlooked(self) -> None:
        """Return if the schema has no value.

        Raises:
            UnsupportedConstraint: a value may have been overlooked.
        """
        if self._containers.costs.overlooked:
            raise refused()
        if self._names.undecided:
            name = min(self._names.undecided)
            reason = f"that a property name lacks the format {name} cannot be enforced"
            refusal = Refusal("", "propertyNames", reason, "use a pattern instead")
            raise UnsupportedConstraint(reason, (refusal,))

    def _unsatisfiable(self, hint: str) -> Unsatisfiable:
        """The error of a schema without values, with the place and the keywords that are the cause."""
        found = Refusal("", "", "no value is valid", CONTRADICTORY)
        with suppress(GrammarError):  # a part may be too large by itself
            found = contradiction(
                self.formulas, lambda formula: self._containers.costs.of_value(formula) is None
            )
        if hint:
            found = replace(found, hint=f"{hint}; or {found.hint}")
        told = f"{found.where}: {found.reason}" if found.where else found.reason
        return Unsatisfiable(told, (found,))

    @cached_property
    def enforced(self) -> tuple[Enforced, ...]:
        """Every enforced keyword. To be asked for before texts are read: these reach no further sub-schema."""
        return enforced(self.formulas)

    def release(self) -> None:
        """Break the reference cycles between the parts. Neither this object nor any part may be used afterwards.

        Otherwise the parts, some 50 KiB per schema, would stay in memory until the cycle collector runs.
        """
        self._containers.release()
        self.shared.release()
        for part in (self._names, self.formulas, self):
            vars(part).clear()

    @property
    def root(self) -> ValueRule:
        """The rule of a whole valid text."""
        return self._rule(self.formulas.root.formula, (), 0)

    def _rule(self, must: Formula, queries: tuple[Formula, ...], depth: int) -> ValueRule:
        """The rule of the values that satisfy `must`; its outcomes tell which `queries` hold."""
        key = (must, queries, depth)
        rule = self._rules.get(key)
        if rule is None:
            rule = self._rules[key] = ValueRule(
                self.shared, self._containers, self._rule, must, queries, depth
            )
        return rule
