"""The base of all wire types, and the bounds that most of them share."""

from pydantic import BaseModel, ConfigDict

MAX_TEXT_CHARACTERS = 1_000_000
MAX_NAME_CHARACTERS = 1024
MAX_COUNT = 2**31 - 1


class Wire(BaseModel):
    """Base of all wire types: frozen, without extra fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
