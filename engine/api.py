"""The public names of the engine."""

from .config import EngineConfig, GrammarConfig
from .errors import (
    BudgetTooSmall,
    ConfigError,
    EngineError,
    EngineLost,
    EngineStopped,
    InternalError,
    InvalidRequest,
    ModelError,
    QueueFull,
    Refused,
    RequestQuarantined,
    TooLong,
)
from .grammars.schema_gate import SchemaGate
from .host.client import EngineClient
from .host.lives import Lives
from .host.local import LocalEngine
from .host.messages import BlockReport, EngineInfo
from .host.supervisor import EngineState, Launch, Watch
from .metrics import Snapshot
from .model.checkpoint import model_folder
from .text.chat import ChatTemplate
from .text.detokenize import Detokenizer
from .text.tokenizer import Tokenizer
from .types import (
    Cut,
    CutReason,
    Delta,
    Failure,
    Finish,
    OutputLimits,
    Request,
    SamplingParams,
    TokenLogprob,
    Usage,
)

__all__ = [
    "BlockReport",
    "BudgetTooSmall",
    "ChatTemplate",
    "ConfigError",
    "Cut",
    "CutReason",
    "Delta",
    "Detokenizer",
    "SchemaGate",
    "EngineClient",
    "EngineConfig",
    "EngineError",
    "EngineInfo",
    "EngineState",
    "EngineLost",
    "EngineStopped",
    "Failure",
    "Finish",
    "GrammarConfig",
    "InternalError",
    "InvalidRequest",
    "Launch",
    "Lives",
    "LocalEngine",
    "ModelError",
    "OutputLimits",
    "QueueFull",
    "Refused",
    "Request",
    "RequestQuarantined",
    "SamplingParams",
    "Snapshot",
    "TokenLogprob",
    "Tokenizer",
    "TooLong",
    "Usage",
    "Watch",
    "model_folder",
]
