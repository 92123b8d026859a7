"""The public names of the engine."""

from .adapter_settings import AdapterSettings
from .config import EngineConfig, GrammarConfig
from .errors import (
    AdapterUnusable,
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
from .expert_counts import ExpertCounts
from .grammars.schema_gate import SchemaGate
from .host.attachment import Attachment
from .host.client import EngineClient
from .host.engine_link import EngineLink
from .host.engines import Engines
from .host.launches import launches
from .host.local import LocalEngine
from .host.messages import BlockReport, EngineInfo
from .host.status import EngineAddress, EngineState, EngineStatus, Lives
from .host.supervision import Supervision
from .host.supervisor import Launch, Watch
from .image_counts import ImageCounts
from .memory.offload import OffloadCounts
from .metrics import Snapshot
from .model.adapter_report import AdapterReport, check_adapter
from .model.checkpoint import model_folder
from .model.checkpoint_report import (
    CheckpointReport,
    SupportedFamily,
    check_checkpoint,
    supported_families,
)
from .model.model_costs import Cost, ModelCosts, checkpoint_costs
from .quantize.quantization import (
    CALIBRATED_FORMATS,
    QUANTIZED_FORMATS,
    CalibrationText,
    CalibrationTexts,
)
from .quantize.quantize_checkpoint import quantize_checkpoint
from .ranks.parallel_shape import ParallelShape, parallel_shape
from .schedule.drafting import DraftCounts
from .text.chat import ChatTemplate
from .text.detokenize import Detokenizer
from .text.prompt_frame import PromptFrame
from .text.reasoning_marks import marks_of, opening, switch_of
from .text.tokenizer import Piece, Tokenizer
from .types import (
    AdapterRef,
    Cut,
    CutReason,
    Delta,
    Failure,
    Finish,
    ImageFormat,
    OutputLimits,
    PromptImage,
    Request,
    SamplingParams,
    TokenLogprob,
    Usage,
)

__all__ = [
    "AdapterRef",
    "AdapterReport",
    "AdapterSettings",
    "AdapterUnusable",
    "check_adapter",
    "Attachment",
    "BlockReport",
    "BudgetTooSmall",
    "ChatTemplate",
    "CheckpointReport",
    "ConfigError",
    "Cut",
    "CutReason",
    "Delta",
    "Detokenizer",
    "SchemaGate",
    "EngineAddress",
    "EngineClient",
    "EngineConfig",
    "EngineError",
    "EngineInfo",
    "EngineLink",
    "EngineState",
    "EngineStatus",
    "Engines",
    "EngineLost",
    "EngineStopped",
    "Failure",
    "Finish",
    "GrammarConfig",
    "ImageFormat",
    "InternalError",
    "InvalidRequest",
    "Launch",
    "Lives",
    "LocalEngine",
    "ModelError",
    "ImageCounts",
    "OffloadCounts",
    "OutputLimits",
    "Piece",
    "PromptFrame",
    "PromptImage",
    "QueueFull",
    "Refused",
    "Request",
    "RequestQuarantined",
    "SamplingParams",
    "DraftCounts",
    "ExpertCounts",
    "Snapshot",
    "Supervision",
    "TokenLogprob",
    "Tokenizer",
    "TooLong",
    "Usage",
    "marks_of",
    "opening",
    "switch_of",
    "Watch",
    "launches",
    "ModelCosts",
    "ParallelShape",
    "parallel_shape",
    "Cost",
    "SupportedFamily",
    "check_checkpoint",
    "checkpoint_costs",
    "model_folder",
    "supported_families",
    "CALIBRATED_FORMATS",
    "QUANTIZED_FORMATS",
    "CalibrationText",
    "CalibrationTexts",
    "quantize_checkpoint",
]
