"""The objects and arrays of one schema.

Does: make one language for each obligation, and answer how an object or array can be completed. Does not: write
punctuation (`value_rule`).
"""

from ..arrays.array_language import ArrayLanguage
from ..logic.residual import Obligation
from ..objects.name_leaves import NameLeaves
from ..objects.object_language import ObjectLanguage
from ..scalars.shared import Shared
from .costs import Costs


class ContainerLanguages:
    """The languages of objects and arrays, each made once, and the search for their shortest ends."""

    def __init__(self, shared: Shared, names: NameLeaves) -> None:
        self.costs = Costs(shared, self.objects, self.arrays)
        self._shared = shared
        self._names = names
        self._objects: dict[Obligation, ObjectLanguage] = {}
        self._arrays: dict[Obligation, ArrayLanguage] = {}

    def objects(self, obligation: Obligation) -> ObjectLanguage:
        """The objects that satisfy an obligation."""
        found = self._objects.get(obligation)
        if found is None:
            found = self._objects[obligation] = ObjectLanguage(
                self._shared, self._names, obligation, self.costs.of_value, self.costs.of_object
            )
        return found

    def arrays(self, obligation: Obligation) -> ArrayLanguage:
        """The arrays that satisfy an obligation."""
        found = self._arrays.get(obligation)
        if found is None:
            found = self._arrays[obligation] = ArrayLanguage(
                self._shared, obligation, self.costs.of_value, self.costs.of_array
            )
        return found

    def release(self) -> None:
        """Break the reference cycles between the languages. None of them may be used afterwards."""
        for part in (*self._objects.values(), *self._arrays.values(), self.costs, self):
            vars(part).clear()
