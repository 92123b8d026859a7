"""What a schema is held to, told with every answer: which keywords are enforced, and which change nothing.

Does: shapes. Does not: find anything out.
"""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field


class UnreadKeyword(BaseModel):
    """One keyword for which nothing is enforced, at one place. `pointer` is a JSON Pointer into the schema."""

    model_config = ConfigDict(frozen=True)

    pointer: str
    keyword: str
    reason: str
    hint: str = ""


class Contract(BaseModel):
    """What the schema of an answer is held to. All is well where `ignored` and `unknown` are empty.

    `POST /v1/schemas/explain` tells how each keyword is enforced at each place.
    """

    model_config = ConfigDict(frozen=True)

    enforced: dict[str, int] = Field(
        default={}, description="Keywords that every answer meets, each with its number of places."
    )
    annotations: dict[str, int] = Field(
        default={}, description="Keywords that describe values, such as title; they inform a model."
    )
    ignored: tuple[UnreadKeyword, ...] = Field(
        default=(), description="Known keywords that change nothing where they stand, and why."
    )
    unknown: tuple[UnreadKeyword, ...] = Field(
        default=(),
        description="Keywords and formats that are not known, which may be slips; the hint says what was meant.",
    )
    omitted: int = Field(
        default=0, description="How many more are ignored or unknown than are told here."
    )

    def notes(self) -> Iterator[str]:
        """A line for each keyword that is not enforced, for people."""
        for entry in (*self.unknown, *self.ignored):
            hint = f"; {entry.hint}" if entry.hint else ""
            yield f"{entry.pointer} is not enforced: {entry.reason}{hint}"
        if self.omitted:
            yield f"… and {self.omitted} more"
