"""The arrays and objects of a formula if they are few, such as `[]` and `[null]` for unique nulls.

Does: list a superset of them, by positions and names. Does not: list scalars, or evaluate formulas (`finite`).
"""

from collections.abc import Callable, Iterable
from typing import Final

from ..logic.atoms import (
    ItemCount,
    Items,
    MemberCount,
    Properties,
    PropertyNames,
    Required,
    SubSchema,
    UnevaluatedMembers,
    Unique,
)
from ..logic.evaluate import holds, selected
from ..logic.formula import Atom, Formula, Op, Pool
from ..read.values import List, Map, Value

_FEW: Final = 64  # arrays or objects: each used one lengthens the formula of the next item

Values = Callable[[Formula], frozenset[Value] | None]


class FiniteContainers:
    """Lists the arrays and objects of formulas that admit few of them."""

    def __init__(self, pool: Pool, values: Values, extra_properties: bool) -> None:
        """`values`: all values of a formula, None if they are many. `extra_properties`: see `Options`."""
        self._pool = pool
        self._values = values
        self._extra = extra_properties

    def possible(self, arrays: Formula, objects: Formula) -> list[Value] | None:
        """A superset of the arrays of one formula and the objects of another; None if there may be many."""
        lists = self._listed(arrays, self._arrays)
        maps = None if lists is None else self._listed(objects, self._objects)
        return None if lists is None or maps is None else [*lists, *maps]

    def _listed(
        self, formula: Formula, find: Callable[[list[Atom], list[Atom]], list[Value] | None]
    ) -> list[Value] | None:
        found: dict[Value, None] = {}
        for option in formula.args if formula.op in {Op.ANY, Op.ONE} else (formula,):
            if option is self._pool.false:
                continue
            parts = option.args if option.op is Op.ALL else (option,)
            plain = [part.atom for part in parts if part.op is Op.ATOM]
            some = find(plain, [part.atom for part in option.atoms])
            if some is None:
                return None
            found.update(dict.fromkeys(some))
        return list(found) if len(found) <= _FEW else None

    def _arrays(self, atoms: list[Atom], _: list[Atom]) -> list[Value] | None:
        items = [atom for atom in atoms if isinstance(atom, Items)]
        most = [
            atom.most for atom in atoms if isinstance(atom, ItemCount) and atom.most is not None
        ]
        unique = any(isinstance(atom, Unique) for atom in atoms)
        longest: list[tuple[Value, ...]] = [()]
        found: list[Value] = [List(())]
        for at in range(min(most, default=_FEW + 1)):
            subs = (atom.prefix[at] if at < len(atom.prefix) else atom.rest for atom in items)
            options = self._options(sub for sub in subs if sub is not None)
            if options is None or len(longest) * len(options) > _FEW * _FEW:
                return None
            longest = [
                (*items_before, item)
                for items_before in longest
                for item in options
                if not unique or item not in items_before
            ]
            found += map(List, longest)
            if not longest or len(found) > _FEW:
                break
        return found if len(found) <= _FEW else None

    def _objects(self, atoms: list[Atom], mentioned: list[Atom]) -> list[Value] | None:
        if self._none(atoms):
            return []
        props = [atom for atom in atoms if isinstance(atom, Properties)]
        names = self._names(mentioned, props)
        if names is None:
            return None
        found: list[frozenset[tuple[str, Value]]] = [frozenset()]
        for name in names:
            options = self._options(sub for atom in props for sub in selected(atom, name))
            if options is None or len(found) * (1 + len(options)) > _FEW * _FEW:
                return None
            found += [members | {(name, value)} for members in found for value in options]
        return [*map(Map, found)] if len(found) <= _FEW else None

    def _none(self, atoms: list[Atom]) -> bool:
        """Whether plainly no object satisfies the atoms: a required member is not allowed, or there are too many."""
        counts = [atom for atom in atoms if isinstance(atom, MemberCount)]
        demanded = {name for atom in atoms if isinstance(atom, Required) for name in atom.names}
        least = max([len(demanded), *(atom.least for atom in counts)])
        if any(atom.most is not None and atom.most < least for atom in counts):
            return True
        props = [atom for atom in atoms if isinstance(atom, Properties)]
        if any(
            name in demanded and self._is_nothing(sub) for atom in props for name, sub in atom.named
        ):
            return True
        allowed = [atom.sub.formula for atom in atoms if isinstance(atom, PropertyNames)]
        return any(not holds(formula, name) for formula in allowed for name in demanded)

    def _names(self, mentioned: list[Atom], props: list[Properties]) -> Iterable[str] | None:
        """All possible member names, None if there are many. `props`: the atoms of `mentioned` that must hold."""
        for atom in props:
            if not atom.patterns and self._is_nothing(atom.rest):
                return [name for name, _ in atom.named]
        every = [atom for atom in mentioned if isinstance(atom, Properties)]
        spoken = any(isinstance(atom, PropertyNames | UnevaluatedMembers) for atom in mentioned)
        spoken = spoken or any(atom.patterns or atom.rest is not None for atom in every)
        if self._extra or spoken or not any(atom.named for atom in every):
            return None
        declared = [name for atom in every for name, _ in atom.named]
        demanded = [sorted(atom.names) for atom in mentioned if isinstance(atom, Required)]
        return dict.fromkeys(declared + [name for some in demanded for name in some])

    def _is_nothing(self, sub: SubSchema | None) -> bool:
        return sub is not None and sub.formula is self._pool.false

    def _options(self, subs: Iterable[SubSchema]) -> frozenset[Value] | None:
        return self._values(self._pool.all(sub.formula for sub in subs))
