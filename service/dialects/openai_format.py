"""Constraints stated by OpenAI's `response_format`.

Does: read the field. Does not: define it (`schemas/dialects/openai_format_fields.py`).
"""

from collections.abc import Iterator

from intaglio.schemas.dialects.openai_format_fields import OpenAIFormatField, ResponseFormat

from .stated import Stated, json_stated, object_stated, refused, tag_stated

_PLACE = "/response_format"


def stated(fields: OpenAIFormatField) -> Iterator[Stated]:
    """The constraint of `response_format`.

    Raises:
        InvalidBody: the schema is missing or stated twice, or a field does not belong to the type.
    """
    form = fields.response_format
    if form is None:
        return
    if form.type == "structural_tag":
        yield tag_stated(_PLACE, form.model_dump(by_alias=True, exclude_unset=True))
        return
    if form.model_extra:
        name = next(iter(form.model_extra))
        raise refused(f"{_PLACE}/{name}", "there is no such field", "type, json_schema, schema")
    if form.type == "json_schema":
        yield _schema(form)
        return
    if form.json_schema is not None:
        raise refused(f"{_PLACE}/json_schema", "needs type json_schema")
    if form.type == "json_object":
        place = f"{_PLACE}/schema"
        yield object_stated(_PLACE) if form.schema_ is None else json_stated(place, form.schema_)
    elif form.schema_ is not None:
        raise refused(f"{_PLACE}/schema", "needs type json_object or json_schema")


def _schema(form: ResponseFormat) -> Stated:
    inner = None if form.json_schema is None else form.json_schema.schema_
    if inner is not None and form.schema_ is not None:
        raise refused(f"{_PLACE}/schema", "json_schema.schema is given too", "give one of them")
    if inner is not None:
        return json_stated(f"{_PLACE}/json_schema/schema", inner)
    if form.schema_ is not None:
        return json_stated(f"{_PLACE}/schema", form.schema_)
    raise refused(
        f"{_PLACE}/json_schema/schema",
        "this field is required with type json_schema",
        "without a schema, type json_object gives any JSON object",
    )
