"""The errors of the engine.

EngineError
├── Refused            the request was not accepted; nothing was computed
│   ├── TooLong            prompt and output cannot fit the context or the KV memory
│   ├── BudgetTooSmall     `max_tokens` is less than the shortest legal output needs
│   ├── QueueFull          too many requests wait already
│   ├── InvalidRequest     a field is of the wrong type or out of range, or an id is in use
│   ├── AdapterUnusable    an adapter does not fit the model, or cannot be read
│   └── RequestQuarantined the same request was in flight at three deaths of the engine
├── ConfigError        a setting is unknown, missing or out of range
├── ModelError         a checkpoint cannot be used: missing, unknown or unused weights, unsupported family
├── InternalError      a defect of the engine: an invariant or the order of a step was violated
└── EngineStopped      the engine is shut down or its process has died
    └── EngineLost     it died while the request was in flight
"""


class EngineError(Exception):
    """Base of all errors of this package. `code` is stable; `where` names the field; `hint` says how to fix it."""

    code = "engine_error"
    retryable = False

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint


class Refused(EngineError):
    """The request was not accepted."""

    code = "refused"


class TooLong(Refused):
    """Prompt and output cannot fit the context or the KV memory."""

    code = "context_length_exceeded"


class BudgetTooSmall(Refused):
    """`max_tokens` is less than the shortest legal output needs; the message says how many it needs."""

    code = "budget_too_small"


class QueueFull(Refused):
    """Too many requests wait already."""

    code = "queue_full"
    retryable = True


class InvalidRequest(Refused):
    """A parameter is out of range, or the id is in use."""

    code = "invalid_request"


class AdapterUnusable(Refused):
    """An adapter does not fit the model, is of a kind that is not supported, or cannot be read."""

    code = "adapter_unusable"


class RequestQuarantined(Refused):
    """The same request was in flight at three deaths of the engine's process."""

    code = "request_quarantined"


class ConfigError(EngineError):
    """A setting is unknown, missing or out of range."""

    code = "config_error"


class ModelError(EngineError):
    """A checkpoint cannot be used."""

    code = "model_error"


class InternalError(EngineError):
    """A defect of the engine, to be reported; never caused by a caller."""

    code = "internal_error"


class EngineStopped(EngineError):
    """The engine is shut down or its process has died."""

    code = "engine_stopped"
    retryable = True


class EngineLost(EngineStopped):
    """The engine's process died while the request was in flight, which may have been the cause."""

    code = "engine_lost"
