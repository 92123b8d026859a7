"""Extraction from a column of a data frame into typed columns of a new one, for pandas and polars.

Does: hand the texts to a client or a model, keep the order, put the error of a row into a column. Does not: import
pandas or polars unless one is used.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import iscoroutinefunction
from typing import Any, Protocol

from intaglio.schemas.base import MAX_TEXT_CHARACTERS

from ._sync import Client
from .errors import IntaglioError
from .frame_columns import FrameColumn, NoCell, cells, frame_columns
from .frame_kinds import frame_kind
from .models import Extraction
from .shapes import shape_of

ERROR_COLUMN = "extraction_error"


class ExtractsMany(Protocol):
    """The method of `Client` and `LLM` that a frame needs."""

    @property
    def extract_many(self) -> Callable[..., list[Any]]:
        """Called with schema, texts, `return_errors` and options: results and errors in the order of the texts."""
        ...


def extract_frame(
    frame: Any,
    schema: Any,
    *,
    column: str,
    client: ExtractsMany | None = None,
    prefix: str = "",
    error_column: str = ERROR_COLUMN,
    **options: Any,
) -> Any:
    """A new frame: that of `frame`, with a typed column for each property of `schema`, extracted from `column`.

    `frame` is a DataFrame of pandas or polars, and so is the result; rows keep their order and index. `client` is a
    `Client` or an `LLM`; by default the service at `INTAGLIO_BASE_URL`. `prefix` begins the names of all new columns.
    A row that failed has nulls and a reason in `error_column`. `options` are those of `extract_many`.

    Raises:
        TypeError: `frame` is no such frame, `client` is asynchronous, or the columns of `schema` are not known.
        ValueError: there is no column of that name, or a new one would have the name of an existing one.
        IntaglioError: every row failed, with the same error: the service is unreachable, or the schema was refused.
    """
    _require_client(client)
    kind = frame_kind(frame)
    columns = frame_columns(shape_of(schema).schema)
    names = [prefix + each.name for each in columns]
    _require_column(kind.names(frame), column)
    _require_new(kind.names(frame), [*names, prefix + error_column])
    values = kind.values(frame, column)
    reasons = [_unusable(value) for value in values]
    texts = [value for value, reason in zip(values, reasons, strict=True) if reason is None]
    outcomes = iter(_outcomes(schema, texts, client, options))
    table = [
        _row(columns, next(outcomes)) if reason is None else _failed(columns, reason)
        for reason in reasons
    ]
    error = FrameColumn(error_column, None, "string", {}, {})
    described = [*zip(columns, names, strict=True), (error, prefix + error_column)]
    made = [(each, name, [row[at] for row in table]) for at, (each, name) in enumerate(described)]
    return kind.extended(frame, made)


def register_pandas() -> None:
    """Let frames of pandas extract: `df.intaglio.extract(schema, column=…)`. Needs pandas; safe to call twice."""
    pandas = import_module("pandas")
    if not hasattr(pandas.DataFrame, "intaglio"):
        pandas.api.extensions.register_dataframe_accessor("intaglio")(FrameAccessor)


class FrameAccessor:
    """`df.intaglio` of a pandas frame, after `register_pandas`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def extract(self, schema: Any, *, column: str, **options: Any) -> Any:
        """`extract_frame` of this frame, with the same options and errors."""
        return extract_frame(self._frame, schema, column=column, **options)


def _outcomes(
    schema: Any, texts: list[str], client: ExtractsMany | None, options: dict[str, Any]
) -> Sequence[Extraction[Any] | IntaglioError]:
    if not texts:
        return []
    if client is None:
        with Client() as made:
            outcomes = made.extract_many(schema, texts, return_errors=True, **options)
    else:
        outcomes = client.extract_many(schema, texts, return_errors=True, **options)
    first = outcomes[0]
    if isinstance(first, IntaglioError) and all(
        isinstance(each, IntaglioError) and each.message == first.message for each in outcomes
    ):
        raise first
    return outcomes


def _row(columns: Sequence[FrameColumn], outcome: Extraction[Any] | IntaglioError) -> list[Any]:
    if isinstance(outcome, IntaglioError):
        return _failed(columns, outcome.message)
    try:
        return [*cells(columns, outcome.raw["data"]), None]
    except NoCell as error:
        return _failed(columns, str(error))


def _failed(columns: Sequence[FrameColumn], reason: str) -> list[Any]:
    return [*(None for _ in columns), reason]


def _unusable(value: object) -> str | None:
    """The reason why a cell is not a text to extract from; None if it is one."""
    if value is None:
        return "the text is missing"
    if not isinstance(value, str):
        return f"the text is of type {type(value).__name__}, not str"
    if not value.strip():
        return "the text is empty"
    if len(value) > MAX_TEXT_CHARACTERS:
        return f"the text has more than {MAX_TEXT_CHARACTERS:,} characters"
    return None


def _require_client(client: object) -> None:
    """Refuse what cannot extract within a call: an `AsyncClient`, or the URL of a service."""
    given = type(client).__name__
    if iscoroutinefunction(getattr(client, "extract_many", None)):
        hint = "within asyncio: await asyncio.to_thread(extract_frame, frame, schema, column=…, client=Client(…))"
        raise TypeError(f"client must be a Client or an LLM, not the asynchronous {given}; {hint}")
    if client is not None and not hasattr(client, "extract_many"):
        hint = ": give Client(base_url)" if isinstance(client, str) else ""
        raise TypeError(f"client must be a Client or an LLM, not {given}{hint}")


def _require_column(names: list[str], column: str) -> None:
    if names.count(column) != 1:
        known = ", ".join(map(repr, names[:20]))
        many = "several columns" if column in names else "no column"
        raise ValueError(f"the frame has {many} {column!r}; its columns are {known}")


def _require_new(names: list[str], new: list[str]) -> None:
    taken = sorted({name for name in new if name in names or new.count(name) > 1})
    if taken:
        raise ValueError(
            f"the result would have two columns {', '.join(map(repr, taken))}: choose a prefix"
        )
