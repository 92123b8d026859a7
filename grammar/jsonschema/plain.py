"""Objects of which everything asked has to hold: the usual case, for which no combination has to be tried.

Does: see that a fold is a plain conjunction, and take it apart. Does not: handle alternatives (`plans`).
"""

from dataclasses import dataclass

from .atoms import Members, Names, OtherMembers, Props, Required
from .formula import Formula, Op


@dataclass(frozen=True, slots=True)
class Frame:
    """A conjunction: the atoms about all members, the names still demanded, and what is left of the counts."""

    others: tuple[Formula, ...]
    names: frozenset[str]
    least: int
    most: int | None

    @property
    def suffices(self) -> bool:
        """Whether the demanded names alone fulfil the counts."""
        count = len(self.names)
        return self.least <= count and (self.most is None or count <= self.most)


def frame_of(must: Formula) -> Frame | None:
    """The frame of a formula about objects; None if it is more than a conjunction of atoms."""
    parts = must.args if must.op is Op.ALL else (must,)
    others: list[Formula] = []
    names: frozenset[str] = frozenset()
    least, most = 0, None
    for part in parts:
        atom = part.atom
        if part.op is not Op.ATOM:
            return None
        if isinstance(atom, Required):
            names |= atom.names
        elif isinstance(atom, Members):
            least = max(least, atom.least)
            most = (
                atom.most if most is None else min(most, most if atom.most is None else atom.most)
            )
        elif isinstance(atom, Props | Names | OtherMembers):
            others.append(part)
        else:
            return None
    return Frame(tuple(others), names, least, most)
