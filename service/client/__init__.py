"""The Python SDK: a client of a running service, with typed results.

    from intaglio import Client

    with Client() as client:                      # http://localhost:8000, or INTAGLIO_BASE_URL
        result = client.extract(Invoice, text)    # Invoice: a Pydantic model, a dataclass, …
        print(result.data.total)
        with client.extract_stream(Invoice, text) as stream:
            for partial in stream.partials():     # with every field optional
                print(partial)

`AsyncClient` has the same methods as coroutines. Needs httpx2 and pydantic, but no model and no torch.
"""

from ._async import AsyncClient
from ._async_stream import AsyncExtractionStream
from ._sync import Client
from ._sync_stream import ExtractionStream
from .errors import (
    APIStatusError,
    BadRequest,
    BudgetTooSmall,
    ConfigError,
    ConnectionFailed,
    DeadlineExceeded,
    DocumentRefused,
    IntaglioError,
    ModelError,
    NoResult,
    NotFound,
    NotReady,
    Overloaded,
    ResultMismatch,
    SchemaRefused,
    ServerFault,
    TimedOut,
    TooLong,
    Unauthorized,
    UnexpectedAnswer,
)
from .frames import extract_frame, register_pandas
from .models import CallOptions, Extraction, GuidanceOptions, Options
from .partial import partial_type
from .verbatim import Verbatim

__all__ = [
    "APIStatusError",
    "AsyncClient",
    "AsyncExtractionStream",
    "BadRequest",
    "BudgetTooSmall",
    "CallOptions",
    "Client",
    "ConfigError",
    "ConnectionFailed",
    "DeadlineExceeded",
    "DocumentRefused",
    "Extraction",
    "ExtractionStream",
    "IntaglioError",
    "ModelError",
    "NoResult",
    "NotFound",
    "NotReady",
    "Options",
    "Overloaded",
    "GuidanceOptions",
    "ResultMismatch",
    "SchemaRefused",
    "ServerFault",
    "TimedOut",
    "TooLong",
    "Unauthorized",
    "UnexpectedAnswer",
    "Verbatim",
    "extract_frame",
    "partial_type",
    "register_pandas",
]
