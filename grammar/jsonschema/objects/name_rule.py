"""The names that can come next in an object, as one call.

Does: hold, of each outcome of the leaf of all names, what the member is asked; say which may come. Does not: make the
leaf (`leaves`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...automata import Dfa
from ...machine.rule import Call, as_written
from ..logic.residual import Fold
from ..logic.value_plan import Plan
from .names import BetweenMembers, Seen
from .objects import Layout

if TYPE_CHECKING:
    from ..rules.language import Language


@dataclass(frozen=True, eq=False)
class Keys:
    """The names that can come next in a state; also what the machine hands back after one of them was read.

    `options`: of each outcome of the leaf that counts here, the fold its member derives from.
    """

    layout: Layout
    state: BetweenMembers
    options: Mapping[int, Fold]
    leaf: Dfa

    @property
    def labels(self) -> frozenset[int]:
        """The labels of these names."""
        return frozenset(self.options)

    @property
    def call(self) -> Call:
        """The call that reads one of the names. Names the schema does not mention are remembered: none comes twice."""
        others = max(self.options) >= len(self.layout.vocabulary.names)
        same = as_written if others else None
        return Call(self.leaf, self, same=same, live=self.labels, usual=min(self.options))

    def given(self, label: int) -> tuple[Plan, tuple[Fold, int, Seen]]:
        """What the member is asked after its name was read, and what its end needs to know."""
        fold = self.options[label]
        seen = self.layout.seen_after(self.state.seen, label)
        plan = self.layout.plan(fold, seen, label)
        assert plan is not None  # else it would not be an option
        return plan, (fold, label, seen)


def keys(language: "Language", layout: Layout, state: BetweenMembers) -> Keys | None:
    """The names that can come next in `state`, None if there are none."""
    options: Mapping[int, Fold] | None = None
    if isinstance(state.seen, frozenset):
        plain = layout.plain.labels(state.fold)
        if plain is not None:
            label_of = layout.vocabulary.label_of
            used = {label_of[text] for text in state.seen}
            options = dict.fromkeys(plain - used, state.fold)
    if options is None:
        options = _options(layout, state)
    return Keys(layout, state, options, language.names.names(layout)) if options else None


def _options(layout: Layout, state: BetweenMembers) -> Mapping[int, Fold]:
    return {
        label: fold
        for fold, label in layout.options(state)
        if layout.comes(fold, layout.seen_after(state.seen, label), label)
    }
