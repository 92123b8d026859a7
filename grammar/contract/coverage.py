"""The coverage of a schema, as a value: counts of enforced keywords, and the JSON Pointer of each unenforced one.

Does: carry the coverage from the process that examined the schema to the process that answers. Does not: examine
schemas (`jsonschema.report`).
"""

from dataclasses import dataclass
from typing import Any, Literal, Self

UnreadKind = Literal["annotation", "unknown"]


@dataclass(frozen=True, slots=True)
class Unread:
    """One keyword at one place that has no effect, with the reason.

    `where`: JSON Pointer. `kind`: `unknown` if the keyword is not known and may be a typo; `hint` then suggests a
    correction.
    """

    where: str
    keyword: str
    kind: UnreadKind
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The enforced and unenforced keywords of one schema.

    `enforced` and `annotations`: each keyword with the number of its places, in the order of the schema. `unread`:
    unenforced keywords for which a reader may expect enforcement, unknown keywords first. `omitted`: the number of
    further ones that are not listed.
    """

    enforced: tuple[tuple[str, int], ...] = ()
    annotations: tuple[tuple[str, int], ...] = ()
    unread: tuple[Unread, ...] = ()
    omitted: int = 0

    @classmethod
    def decode(cls, value: dict[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`, after a round trip through JSON.

        Raises:
            TypeError, KeyError, ValueError: `value` is not a coverage.
        """
        return cls(
            enforced=_pairs(value["enforced"]),
            annotations=_pairs(value["annotations"]),
            unread=tuple(Unread(**entry) for entry in value["unread"]),
            omitted=value["omitted"],
        )

    @property
    def unknown(self) -> tuple[Unread, ...]:
        """Unknown keywords, which may be typos."""
        return tuple(entry for entry in self.unread if entry.kind == "unknown")

    @property
    def size_bytes(self) -> int:
        """Memory held, by estimate."""
        texts = sum(len(f"{u.where}{u.keyword}{u.reason}{u.hint}") for u in self.unread)
        return 200 + 100 * (len(self.enforced) + len(self.annotations) + len(self.unread)) + texts


def _pairs(value: list[list[Any]]) -> tuple[tuple[str, int], ...]:
    return tuple((name, count) for name, count in value)
