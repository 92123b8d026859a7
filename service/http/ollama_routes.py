"""The HTTP routes of Ollama's interface.

Does: one function for each operation, and their table. Does not: translate (`service/compat`) or generate
(`generation_call`). Models are neither pulled nor created: the server has the one it was started with.
"""

import hashlib
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

from intaglio.engine.api import EngineInfo
from intaglio.schemas.compat.ollama_calls import (
    OllamaChatAnswer,
    OllamaChatRequest,
    OllamaDetails,
    OllamaErrorDocument,
    OllamaGenerateAnswer,
    OllamaGenerateRequest,
    OllamaModel,
    OllamaModels,
    OllamaShown,
    OllamaShowRequest,
    OllamaVersion,
)
from intaglio.schemas.problem import Code
from starlette.requests import Request
from starlette.responses import Response

from ..compat.ollama_request import model_name, prepare_ollama_chat, prepare_ollama_generate
from ..errors import InvalidBody
from ..openai.prepare_chat import require_model
from .generation_call import answer, body_of, loaded_model
from .json_lines import JsonLines
from .operations import (
    BODY_ERRORS,
    GENERATION_ERRORS,
    ErrorBody,
    KeyScope,
    Operation,
    endings,
)
from .problems import ProblemResponse, problem_response
from .routes import document
from .service_state import Service

_BYTES: Final = {"float32": 4}  # of a weight in memory; two for every other type


def ollama_error(reply: ProblemResponse) -> bytes:
    """The error document `{"error": "…"}`, with the hint as a part of the text."""
    texts = (reply.problem.message, reply.problem.hint)
    text = "; ".join(part for part in texts if part)
    return OllamaErrorDocument(error=text).model_dump_json().encode()


OLLAMA_ERRORS: Final = ErrorBody(OllamaErrorDocument, ollama_error)


async def chat(service: Service, request: Request) -> Response:
    """`POST /api/chat`: answer a conversation."""
    return await answer(
        service, request, OllamaChatRequest, prepare_ollama_chat, _error_line, JsonLines
    )


async def generate(service: Service, request: Request) -> Response:
    """`POST /api/generate`: answer a prompt."""
    return await answer(
        service, request, OllamaGenerateRequest, prepare_ollama_generate, _error_line, JsonLines
    )


async def tags(service: Service, _request: Request) -> Response:
    """`GET /api/tags`: the loaded model. Raises `ServiceNotReady` while it is loading."""
    info = loaded_model(service).info
    described = OllamaModel(
        name=info.model,
        model=info.model,
        modified_at=_time(service.started),
        size=weight_bytes(info),
        digest=hashlib.sha256(f"{info.model} {info.parameters} {info.dtype}".encode()).hexdigest(),
        details=_details(info),
    )
    return document(OllamaModels(models=[described]))


async def show(service: Service, request: Request) -> Response:
    """`POST /api/show`: facts about the loaded model.

    Raises:
        UnknownModel: another model is loaded.
    """
    body = await body_of(service, request, OllamaShowRequest)
    model, name = loaded_model(service), body.model or body.name
    if name is None:
        raise InvalidBody("/model: this field is required", param="model")
    require_model(model_name(name, model), model)
    info = model.info
    return document(
        OllamaShown(
            modified_at=_time(service.started),
            details=_details(info),
            model_info={
                "general.architecture": "intaglio",
                "general.parameter_count": info.parameters,
                "intaglio.context_length": info.context_length,
            },
            capabilities=["completion", "tools"],
        )
    )


async def ollama_version(service: Service, _request: Request) -> Response:
    """`GET /api/version`: the version of this service."""
    return document(OllamaVersion(version=service.version))


def _error_line(error: Exception) -> bytes:
    return ollama_error(problem_response(error)) + b"\n"


def _details(info: EngineInfo) -> OllamaDetails:
    millions = info.parameters / 1e6
    size = f"{millions / 1000:.1f}B" if millions >= 1000 else f"{millions:.0f}M"
    return OllamaDetails(parameter_size=size, quantization_level=info.dtype)


def weight_bytes(info: EngineInfo) -> int:
    """The bytes of the checkpoint's weights; those in memory where there are no files."""
    files = Path(info.folder).glob("*.safetensors") if info.folder else ()
    return sum(file.stat().st_size for file in files) or (
        info.parameters * _BYTES.get(info.dtype, 2)
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


_LINES: Final = "application/x-ndjson"
_ollama = partial(Operation, group="Ollama", error_body=OLLAMA_ERRORS)

OPERATIONS: tuple[Operation, ...] = (
    _ollama(
        method="POST",
        path="/api/chat",
        handler=chat,
        scope=KeyScope.EXTRACT,
        summary="Answer a conversation, as Ollama does",
        description="With `stream`, which is the default, the answer is a stream of JSON lines.",
        takes=OllamaChatRequest,
        gives=OllamaChatAnswer,
        errors=GENERATION_ERRORS,
    ),
    _ollama(
        method="POST",
        path="/api/generate",
        handler=generate,
        scope=KeyScope.EXTRACT,
        summary="Answer a prompt, as Ollama does",
        description="With `stream`, which is the default, the answer is a stream of JSON lines.",
        takes=OllamaGenerateRequest,
        gives=OllamaGenerateAnswer,
        errors=GENERATION_ERRORS,
    ),
    _ollama(
        method="GET",
        path="/api/tags",
        handler=tags,
        scope=KeyScope.ANY,
        summary="List the models, as Ollama does",
        gives=OllamaModels,
        errors=endings(Code.NOT_READY),
    ),
    _ollama(
        method="POST",
        path="/api/show",
        handler=show,
        scope=KeyScope.ANY,
        summary="Describe a model, as Ollama does",
        takes=OllamaShowRequest,
        gives=OllamaShown,
        errors=(*BODY_ERRORS, *endings(Code.UNKNOWN_MODEL, Code.NOT_READY)),
    ),
    _ollama(
        method="GET",
        path="/api/version",
        handler=ollama_version,
        scope=KeyScope.ANY,
        summary="Version of the service, as Ollama tells it",
        gives=OllamaVersion,
    ),
)
