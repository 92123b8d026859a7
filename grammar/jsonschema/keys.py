"""The names that can come next in an object, as one call.

Does: hold, of each outcome of the name's leaf, what the member is asked. Does not: make the leaf (`leaves`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..automata import Dfa
from ..rule import Call, as_written
from .objects import Between, Layout, Name
from .plans import Plan

if TYPE_CHECKING:
    from .language import Language


@dataclass(frozen=True, eq=False)
class Keys:
    """The names that can come next; also what the machine hands back after one of them was read."""

    layout: Layout
    options: dict[int, tuple[Between, Name]]
    leaf: Dfa
    others: bool

    @property
    def call(self) -> Call:
        """The call that reads one of the names. Names the schema does not mention are remembered: none comes twice."""
        return Call(self.leaf, self, same=as_written if self.others else None)

    def plan(self, outcome: int) -> Plan | None:
        """What the member is asked after its name was read."""
        base, name = self.options[outcome]
        return self.layout.plan(base, name)


def keys(language: "Language", layout: Layout, state: Between) -> Keys | None:
    """The names that can come next in `state`, None if there are none."""
    options: dict[int, tuple[Between, Name]] = {}
    others = False
    for base, name in layout.options(state):
        plan = layout.plan(base, name)
        if plan is not None and language.costs.value(plan.must) is not None:
            options[layout.label_of[name]] = (base, name)
            others = others or name.text is None
    if not options:
        return None
    leaf = language.leaves.names(layout).restrict(options)
    return Keys(layout, options, leaf, others)
