"""The base of all wire types."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """Base of all wire types: frozen, without extra fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
