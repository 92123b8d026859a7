"""The mark of a verbatim string in a Python type.

Does: add the keyword to the JSON Schema of an annotated type. Does not: enforce it (the service does).
"""

from typing import Any

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue


class Verbatim:
    """Marks strings that must be substrings of the document.

    class Letter(BaseModel):
        sender: Annotated[str, Verbatim]
        subject: Annotated[str | None, Verbatim] = None
    """

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: Any, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema of the annotated type, with the keyword."""
        return {**handler(schema), "x-intaglio": {"verbatim": True}}
