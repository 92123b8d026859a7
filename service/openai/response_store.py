"""The responses that a server keeps, in an SQLite file: for requests that continue them, and for later reading.

Does: keep, find and delete responses, separately for each tenant, and drop the oldest beyond a bound. Does not: decide
which responses are kept (`prepare_response`). Every call reads the file, so all processes of a server see the same.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pydantic
import sqlalchemy as sa
from intaglio.schemas.openai.responses_items import InputItem
from intaglio.schemas.problem import Detail

from ..errors import ResponsesUnavailable, UnknownResponse
from ..sqlite import configure_sqlite

MAX_RESPONSES: Final = 1_000
"""The most responses of one tenant that are kept."""

MAX_BYTES: Final = 8 * 1024 * 1024
"""The longest response, with all items before it, that is kept."""

_ITEMS: Final[pydantic.TypeAdapter[list[InputItem]]] = pydantic.TypeAdapter(list[InputItem])

_meta = sa.MetaData()

_responses = sa.Table(
    "responses",
    _meta,
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("tenant", sa.String(128), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("response", sa.Text, nullable=False),
    sa.Column("items", sa.Text, nullable=False),  # all before the output
    sa.Index("responses_by_age", "tenant", "created"),
)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A kept response, and the items before its output: its input and the responses that it continues."""

    response: dict[str, Any]
    items: list[dict[str, Any]]


class ResponseStore:
    """The kept responses in the folder of a server. Safe to share between threads and processes.

    Every method raises `ResponsesUnavailable` if the file cannot be read or written.
    """

    def __init__(
        self,
        folder: Path,
        most: int = MAX_RESPONSES,
        most_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = sa.create_engine(f"sqlite:///{folder / 'responses.db'}")
        configure_sqlite(self._engine)
        self._most = most
        self._most_bytes = most_bytes
        self._clock = clock
        with self._transaction() as connection:
            _meta.create_all(connection)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def keep(self, tenant: str, items: Sequence[InputItem], response: dict[str, Any]) -> None:
        """Keep a response; drops the oldest of the tenant beyond the bound. A response that is too long is not kept."""
        before = _ITEMS.dump_json(list(items), exclude_none=True).decode()
        text = json.dumps(response, ensure_ascii=False)
        if len(before) + len(text) > self._most_bytes:
            return
        row = {"id": response["id"], "tenant": tenant, "created": self._clock()}
        mine = _responses.c.tenant == tenant
        with self._transaction() as connection:
            connection.execute(_responses.insert().values(**row, response=text, items=before))
            oldest = (
                sa.select(_responses.c.id)
                .where(mine)
                .order_by(_responses.c.created.desc(), _responses.c.id)
                .offset(self._most)
            )
            connection.execute(_responses.delete().where(_responses.c.id.in_(oldest)))

    def get(self, tenant: str, response: str) -> StoredResponse:
        """A kept response.

        Raises:
            UnknownResponse: there is none of that id.
        """
        with self._transaction() as connection:
            found = connection.execute(sa.select(_responses).where(*_named(tenant, response)))
            row = found.one_or_none()
        if row is None:
            raise unknown(response)
        return StoredResponse(json.loads(row.response), json.loads(row.items))

    def items(self, tenant: str, response: str) -> list[InputItem]:
        """The input and output items of a previous response and of those before it.

        Raises:
            UnknownResponse: there is none of that id; it names the field `previous_response_id`.
        """
        try:
            found = self.get(tenant, response)
        except UnknownResponse as error:
            raise UnknownResponse(
                error.message,
                param="previous_response_id",
                hint=error.hint,
                details=(Detail(pointer="/previous_response_id", reason="not kept"),),
            ) from error
        return _ITEMS.validate_python([*found.items, *found.response["output"]])

    def delete(self, tenant: str, response: str) -> None:
        """Delete a response. Raises as `get`."""
        with self._transaction() as connection:
            done = connection.execute(_responses.delete().where(*_named(tenant, response)))
        if not done.rowcount:
            raise unknown(response)

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except sa.exc.SQLAlchemyError as error:
            raise ResponsesUnavailable(
                "the kept responses cannot be read or written",
                hint="check the data folder and its free space",
            ) from error


def unknown(response: str) -> UnknownResponse:
    """The error for a response that is not kept."""
    return UnknownResponse(
        f"there is no response {response[:128]!r}",
        param="id",
        hint="responses are kept for a while only, where store is not false",
    )


def _named(tenant: str, response: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _responses.c.tenant == tenant, _responses.c.id == response
