"""The wire types of the schema registry.

Does: define them, and the form of names. Does not: store schemas.
"""

from typing import Any

from pydantic import Field

from .base import Wire
from .extraction.contract import Contract

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"


class RegisterSchema(Wire):
    """Body of `POST /v1/schemas`. A name that exists gets a new version, unless its latest version is this schema."""

    name: str = Field(
        pattern=NAME_PATTERN, description="Letters, digits, dots, dashes, underscores."
    )
    schema_: dict[str, Any] | bool = Field(alias="schema")
    warm: bool = Field(
        default=True,
        description="Prepare the engine for requests with this schema before the answer is sent.",
    )


class RegisteredSchema(Wire):
    """One version of a schema. Requests name it by `id`, by `reference` (`name@version`) or, for the latest version, by
    `name`. A version never changes, and its number is never used again. `created` is in seconds since 1970.
    """

    id: str
    name: str
    version: int
    reference: str
    created: float
    schema_: dict[str, Any] | bool | None = Field(
        default=None, alias="schema", description="Null in lists."
    )
    contract: Contract | None = Field(
        default=None, description="The enforced keywords, when the schema has just been registered."
    )


class SchemaPage(Wire):
    """A page of `GET /v1/schemas`, by name and version. `next` is the value of `after` for the next page."""

    data: tuple[RegisteredSchema, ...]
    next: str | None = None
