"""How far a schema is enforced, as a value: counts of the keywords that are, and each that is not by JSON Pointer.

Does: carry it from the process that looked at the schema to the one that answers. Does not: look at schemas
(`jsonschema.covered`).
"""

from dataclasses import dataclass
from typing import Any, Literal, Self

UnreadKind = Literal["annotation", "unknown"]


@dataclass(frozen=True, slots=True)
class Unread:
    """One keyword at one place that changes nothing, and why.

    `unknown`: the word itself is not known, so it may be a slip; `hint` says what to write instead.
    """

    where: str
    keyword: str
    kind: UnreadKind
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """`enforced` and `annotations`: each keyword with the number of its places, in the order of the schema.

    `unread`: keywords for which nothing is enforced although a reader may expect it; unknown ones first. `omitted`: how
    many more there are.
    """

    enforced: tuple[tuple[str, int], ...] = ()
    annotations: tuple[tuple[str, int], ...] = ()
    unread: tuple[Unread, ...] = ()
    omitted: int = 0

    @classmethod
    def decode(cls, value: dict[str, Any]) -> Self:
        """What `dataclasses.asdict` made of one, after a way through JSON.

        Raises:
            TypeError, KeyError, ValueError: `value` is none.
        """
        return cls(
            enforced=_pairs(value["enforced"]),
            annotations=_pairs(value["annotations"]),
            unread=tuple(Unread(**entry) for entry in value["unread"]),
            omitted=value["omitted"],
        )

    @property
    def unknown(self) -> tuple[Unread, ...]:
        """Keywords that may be slips."""
        return tuple(entry for entry in self.unread if entry.kind == "unknown")

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory."""
        texts = sum(len(f"{u.where}{u.keyword}{u.reason}{u.hint}") for u in self.unread)
        return 200 + 100 * (len(self.enforced) + len(self.annotations) + len(self.unread)) + texts


def _pairs(value: list[list[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, count) for name, count in value)
