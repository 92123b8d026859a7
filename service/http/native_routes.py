"""The HTTP routes of the native interfaces of llama.cpp and SGLang.

Does: one function for each operation, and their table. Does not: translate (`service/compat`) or generate
(`generation_call`).
"""

from intaglio.schemas.compat.native_completions import (
    LlamaCppAnswer,
    LlamaCppRequest,
    SglangAnswer,
    SglangRequest,
)
from starlette.requests import Request
from starlette.responses import Response

from ..compat.llama_cpp_completion import prepare_llama_cpp
from ..compat.sglang_generate import prepare_sglang
from .generation_call import answer
from .openai_errors import OPENAI_ERRORS, error_event
from .operations import (
    GENERATION_ERRORS,
    KeyScope,
    Operation,
)
from .service_state import Service


async def completion(service: Service, request: Request) -> Response:
    """`POST /completion`: continue a text, as llama.cpp does."""
    return await answer(service, request, LlamaCppRequest, prepare_llama_cpp, error_event)


async def generate(service: Service, request: Request) -> Response:
    """`POST /generate`: continue a text, as SGLang does."""
    return await answer(service, request, SglangRequest, prepare_sglang, error_event)


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/completion",
        handler=completion,
        scope=KeyScope.EXTRACT,
        summary="Continue a text, as llama.cpp does",
        group="llama.cpp",
        description="`grammar` (GBNF or Lark) or `json_schema` constrain the text.",
        takes=LlamaCppRequest,
        gives=LlamaCppAnswer,
        streams=True,
        event=LlamaCppAnswer,
        errors=GENERATION_ERRORS,
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="POST",
        path="/generate",
        handler=generate,
        scope=KeyScope.EXTRACT,
        summary="Continue a text, as SGLang does",
        group="SGLang",
        description="`regex`, `ebnf`, `json_schema` or `structural_tag` in `sampling_params` constrain the text. "
        "Several answers (`n`) are a list.",
        takes=SglangRequest,
        gives=SglangAnswer,
        streams=True,
        event=SglangAnswer,
        errors=GENERATION_ERRORS,
        error_body=OPENAI_ERRORS,
    ),
)
