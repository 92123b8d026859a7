"""The names that may follow in an object, as one call of the machine.

Does: map each name to the obligation its member derives from. Does not: make the leaf of all names (`name_leaves`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ...machine.rule import Call, as_written
from ..logic.atoms import Required
from ..logic.residual import Obligation
from ..logic.value_plan import ValuePlan
from .names import BetweenMembers, Seen
from .object_language import ObjectLanguage
from .property_classes import NameLeaf, PropertyClasses


@dataclass(frozen=True, eq=False)
class Keys:
    """The names that may follow a state; also the key with which the machine resumes after one of them.

    `options`: for the label of each admissible name, the obligation that the member derives from.
    """

    objects: ObjectLanguage
    state: BetweenMembers
    options: Mapping[int, Obligation]
    leaf: NameLeaf

    @property
    def properties(self) -> PropertyClasses:
        """The names of the object."""
        return self.objects.properties

    @property
    def labels(self) -> frozenset[int]:
        """The labels of the names."""
        return frozenset(self.options)

    @property
    def call(self) -> Call:
        """The call that reads one of the names. Names outside the schema are remembered, so that none is repeated."""
        others = max(self.options) >= len(self.objects.properties.names)
        same = as_written if others else None
        return self.leaf.call(self, self.labels, _due(self.objects, self.state), same)

    def before_value(self, outcome: int) -> tuple[ValuePlan, tuple[Obligation, int, Seen]]:
        """The plan of the member after its name was read, and the data for the state after the member."""
        label = outcome + self.leaf.first
        obligation = self.options[label]
        seen = self.objects.seen_after(self.state.seen, label)
        plan = self.objects.plan(obligation, seen, label)
        assert plan is not None  # else it would not be an option
        return plan, (obligation, label, seen)


def keys(objects: ObjectLanguage, state: BetweenMembers) -> Keys | None:
    """The names that may follow `state`; None if there are none."""
    options: Mapping[int, Obligation] | None = None
    if isinstance(state.seen, frozenset):
        plain = objects.plain.labels(state.obligation)
        if plain is not None:
            label_of = objects.properties.label_of
            used = {label_of[text] for text in state.seen}
            options = dict.fromkeys(plain - used, state.obligation)
    if options is None:
        options = _options(objects, state)
    if not options:
        return None
    properties = objects.properties
    part = properties.parts.of(options, objects.name_leaf, properties.order)
    return Keys(objects, state, options, part)


def _due(objects: ObjectLanguage, state: BetweenMembers) -> frozenset[int]:
    """The labels of the names that a part of the obligation still requires."""
    atoms = (part.atom for part in state.obligation.must.atoms)
    label_of = objects.properties.label_of
    return frozenset(
        label_of[text] for atom in atoms if isinstance(atom, Required) for text in atom.names
    )


def _options(objects: ObjectLanguage, state: BetweenMembers) -> Mapping[int, Obligation]:
    return {
        label: obligation
        for obligation, label in objects.options(state)
        if objects.may_follow(obligation, objects.seen_after(state.seen, label), label)
    }
