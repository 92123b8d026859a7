"""The tables of files and batches, next to those of jobs in the same database.

Does: define the columns and create missing tables. Does not: change rows (`client_files`, `batch_ledger`).
"""

import sqlalchemy as sa

from ..jobs.tables import connect

_meta = sa.MetaData()

client_files = sa.Table(
    "client_files",
    _meta,
    sa.Column("id", sa.String(128), primary_key=True),
    sa.Column("tenant", sa.String(200), nullable=False),
    sa.Column("filename", sa.Text, nullable=False),
    sa.Column("purpose", sa.String(32), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("expires", sa.Float),
)

# The requests of a batch are rows of the table `rows`, under the batch's id.
batches = sa.Table(
    "batches",
    _meta,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("number", sa.Integer, nullable=False, unique=True),  # order of creation
    sa.Column("tenant", sa.String(200), nullable=False),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("cache_salt", sa.Text, nullable=False),
    sa.Column("request", sa.Text, nullable=False),  # `BatchRequest` as JSON
    sa.Column("model", sa.Text),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("times", sa.Text, nullable=False),  # by status, as JSON
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("output_file", sa.String(128)),
    sa.Column("error_file", sa.String(128)),
    sa.Column("faults", sa.Text),  # `BatchFaults` as JSON
)


def open_tables(url: str) -> sa.Engine:
    """Connect to a ledger's database and create missing tables. Raises as `connect`."""
    engine = connect(url)
    with engine.begin() as connection:
        _meta.create_all(connection)
    return engine
