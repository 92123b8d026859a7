"""The contract of an answer: which keywords of its schema are enforced, and which have no effect.

Does: define the wire types. Does not: examine schemas.
"""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field


class UnreadKeyword(BaseModel):
    """A keyword at one place that is not enforced. `pointer` is a JSON Pointer into the schema."""

    model_config = ConfigDict(frozen=True)

    pointer: str
    keyword: str
    reason: str
    hint: str = ""


class Contract(BaseModel):
    """The enforced and unenforced keywords of a schema. The whole schema is enforced if `ignored` and `unknown` are
    empty.

    `POST /v1/schemas/explain` reports how each keyword is enforced at each place.
    """

    model_config = ConfigDict(frozen=True)

    enforced: dict[str, int] = Field(
        default={},
        description="Keywords that every answer meets, each with its number of occurrences.",
    )
    annotations: dict[str, int] = Field(
        default={},
        description="Keywords that describe values, such as title; they inform the model.",
    )
    ignored: tuple[UnreadKeyword, ...] = Field(
        default=(),
        description="Known keywords that have no effect at their place, with the reason.",
    )
    unknown: tuple[UnreadKeyword, ...] = Field(
        default=(),
        description="Unknown keywords and formats, which may be typos; the hint suggests the intended one.",
    )
    omitted: int = Field(
        default=0, description="Number of further ignored or unknown keywords that are not listed."
    )

    def notes(self) -> Iterator[str]:
        """A readable line for each keyword that is not enforced."""
        for entry in (*self.unknown, *self.ignored):
            hint = f"; {entry.hint}" if entry.hint else ""
            yield f"{entry.pointer} is not enforced: {entry.reason}{hint}"
        if self.omitted:
            yield f"… and {self.omitted} more"
