"""The HTTP routes of OpenAI's interface: chat completions, completions, models; and vLLM's tokenisation.

Does: one function for each operation, and their table. Does not: prepare generations (`service/openai`) or run them
(`generation_call`).
"""

from functools import partial
from typing import Final

from intaglio.schemas.openai.chat_completions import ChatChunk, ChatCompletion, ChatRequest
from intaglio.schemas.openai.text_completions import Completion, CompletionRequest
from intaglio.schemas.openai.tokens import (
    DetokenizeRequest,
    DetokenizeResult,
    TokenizeRequest,
    TokenizeResult,
)
from intaglio.schemas.problem import Code
from intaglio.schemas.server_info import ModelCard
from starlette.requests import Request
from starlette.responses import Response

from ..errors import InvalidBody
from ..generation.prepared_call import LoadedModel
from ..openai.chat_prompt import chat_tokens
from ..openai.logprob_entries import token_text
from ..openai.prepare_chat import prepare_chat, require_model
from ..openai.text_completion import prepare_completion, require_tokens
from .generation_call import ErrorEvent, answer, body_of, loaded_model
from .openai_errors import OPENAI_ERRORS, error_event
from .operations import (
    BODY_ERRORS,
    BUSY_ERRORS,
    GENERATION_ERRORS,
    KeyScope,
    Operation,
    Parameter,
    endings,
)
from .routes import document, model_card
from .service_state import Service


async def chat_completions(service: Service, request: Request) -> Response:
    """`POST /v1/chat/completions`: answer a conversation."""
    return await answer(service, request, ChatRequest, prepare_chat, _failed(request))


async def completions(service: Service, request: Request) -> Response:
    """`POST /v1/completions`: continue texts."""
    return await answer(service, request, CompletionRequest, prepare_completion, _failed(request))


def _failed(request: Request) -> ErrorEvent:
    """Encodes the error of a stream with the id of its request."""
    return partial(error_event, request_id=request.state.request_id)


async def model(service: Service, request: Request) -> Response:
    """`GET /v1/models/{model}`: the loaded model or an adapter, by its name.

    Raises:
        UnknownModel: another model is loaded.
        ServiceNotReady: no model is loaded yet.
    """
    card, name = model_card(service), request.path_params["model"]
    adapter = require_model(name, loaded_model(service))
    if adapter is not None:
        changes = {"id": name, "parent": card.id, "digest": adapter.digest}
        card = card.model_copy(update=changes)
    return document(card)


async def embeddings(_service: Service, _request: Request) -> Response:
    """`POST /v1/embeddings`: refused.

    Raises:
        InvalidBody: always.
    """
    raise InvalidBody(
        "this server has no embeddings: it generates text",
        hint="use a server with an embedding model for POST /v1/embeddings",
    )


async def tokenize(service: Service, request: Request) -> Response:
    """`POST /tokenize`: the tokens of a text or of a conversation."""
    with service.gate.admit():
        service.ready()
        body = await body_of(service, request, TokenizeRequest)
        return document(await service.offload(partial(_tokenized, body, loaded_model(service))))


async def detokenize(service: Service, request: Request) -> Response:
    """`POST /detokenize`: the text of tokens."""
    with service.gate.admit():
        service.ready()
        body = await body_of(service, request, DetokenizeRequest)
        return document(await service.offload(partial(_detokenized, body, loaded_model(service))))


def _tokenized(body: TokenizeRequest, model: LoadedModel) -> TokenizeResult:
    require_model(body.model, model)
    if body.messages is not None:
        tokens = chat_tokens(
            model.text, body.messages, add_generation_prompt=body.add_generation_prompt
        )
    else:
        tokens = model.text.tokenizer.encode(body.prompt or "")
    texts = model.text.vocabulary.tokens
    shown = [token_text(token, texts) for token in tokens] if body.return_token_strs else None
    return TokenizeResult(
        count=len(tokens),
        max_model_len=model.info.context_length,
        tokens=list(tokens),
        token_strs=shown,
    )


def _detokenized(body: DetokenizeRequest, model: LoadedModel) -> DetokenizeResult:
    require_model(body.model, model)
    require_tokens(body.tokens, model.info.vocabulary, "/tokens")
    return DetokenizeResult(prompt=model.text.text(body.tokens))


_GROUP: Final = "OpenAI"

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        method="POST",
        path="/v1/chat/completions",
        handler=chat_completions,
        scope=KeyScope.EXTRACT,
        summary="Answer a conversation",
        group=_GROUP,
        description="OpenAI's chat completions, with constraints enforced while decoding. With `stream`, the answer "
        "is a stream of chunks that ends with `[DONE]`.",
        takes=ChatRequest,
        gives=ChatCompletion,
        streams=True,
        event=ChatChunk,
        errors=GENERATION_ERRORS,
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="POST",
        path="/v1/completions",
        handler=completions,
        scope=KeyScope.EXTRACT,
        summary="Continue texts",
        group=_GROUP,
        description="OpenAI's completions, with constraints enforced while decoding. No chat template is used.",
        takes=CompletionRequest,
        gives=Completion,
        streams=True,
        event=Completion,
        errors=GENERATION_ERRORS,
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="GET",
        path="/v1/models/{model:path}",
        handler=model,
        scope=KeyScope.ANY,
        summary="Describe a model",
        group=_GROUP,
        gives=ModelCard,
        parameters=(Parameter("model", "path", "Name of the model, slashes included."),),
        errors=endings(Code.UNKNOWN_MODEL, Code.NOT_READY),
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="POST",
        path="/v1/embeddings",
        handler=embeddings,
        scope=KeyScope.ANY,
        summary="Refuse embeddings",
        group=_GROUP,
        description="This service generates text and has no embedding model: every request is refused.",
        errors=endings(Code.INVALID_REQUEST),
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="POST",
        path="/tokenize",
        handler=tokenize,
        scope=KeyScope.EXTRACT,
        summary="Tokens of a text or a conversation",
        group=_GROUP,
        takes=TokenizeRequest,
        gives=TokenizeResult,
        errors=(*BODY_ERRORS, *endings(Code.UNKNOWN_MODEL, Code.INTERNAL), *BUSY_ERRORS),
        error_body=OPENAI_ERRORS,
    ),
    Operation(
        method="POST",
        path="/detokenize",
        handler=detokenize,
        scope=KeyScope.EXTRACT,
        summary="Text of tokens",
        group=_GROUP,
        takes=DetokenizeRequest,
        gives=DetokenizeResult,
        errors=(*BODY_ERRORS, *endings(Code.UNKNOWN_MODEL, Code.INTERNAL), *BUSY_ERRORS),
        error_body=OPENAI_ERRORS,
    ),
)
