"""The Python SDK: a client of a running service, with typed results.

    from intaglio import Client

    with Client() as client:                      # http://localhost:8000, or INTAGLIO_BASE_URL
        result = client.extract(Invoice, text)    # Invoice: a Pydantic model, a dataclass, …
        print(result.data.total)

`AsyncClient` has the same methods as coroutines. Needs httpx2 and pydantic, but no model and no torch.
"""

from ._async import AsyncClient
from ._sync import Client
from .errors import (
    APIStatusError,
    BadRequest,
    BudgetTooSmall,
    ConfigError,
    ConnectionFailed,
    DeadlineExceeded,
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
from .models import Extraction, Options

__all__ = [
    "APIStatusError",
    "AsyncClient",
    "BadRequest",
    "BudgetTooSmall",
    "Client",
    "ConfigError",
    "ConnectionFailed",
    "DeadlineExceeded",
    "Extraction",
    "IntaglioError",
    "ModelError",
    "NoResult",
    "NotFound",
    "NotReady",
    "Options",
    "Overloaded",
    "ResultMismatch",
    "SchemaRefused",
    "ServerFault",
    "TimedOut",
    "TooLong",
    "Unauthorized",
    "UnexpectedAnswer",
]
