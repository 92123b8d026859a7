"""The scopes of API keys: groups of operations that a key permits.

Does: name the scopes. Does not: assign operations to scopes (`Operation` in `service/http/operations.py`).
"""

from enum import StrEnum


class KeyScope(StrEnum):
    """The scope that an API key needs for an operation, on a server that has keys."""

    NONE = "none"
    """No key at all: probes."""
    ANY = "any"
    """Any valid key."""
    EXTRACT = "extract"
    """Generation, in whatever protocol."""
    JOBS = "jobs"
    """Files, jobs and batches."""
    METRICS = "metrics"
    """Counters and the state of the engine."""
    ADMIN = "admin"
    """Changes to the server: keys, schemas, engines."""


ALL_SCOPES = frozenset(KeyScope) - {KeyScope.NONE, KeyScope.ANY}
"""What a key can be given."""
