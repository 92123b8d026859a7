"""Translates the body of a chat completion into a generation.

Does: check rules across fields, render the prompt, set the budget. Does not: parse bodies, or run anything.
"""

import time
from dataclasses import replace
from uuid import uuid4

from intaglio.engine.api import AdapterRef
from intaglio.schemas.openai.chat_completions import ChatRequest
from intaglio.schemas.openai.options import OpenAIOptions

from ..dialects.every import stated_constraint
from ..dialects.stated import Stated, refused
from ..errors import UnknownModel
from ..extraction.draft_text import FREE_TOKENS, require_followed
from ..generation.answer_check import check_of
from ..generation.generation_spec import GenerationSpec
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..generation.token_room import answer_budget
from ..tools.reply_parts import ContentReader
from .chat_answer import ChatForm
from .chat_prompt import PromptOptions, chat_prompt, conversation, image_sources, user_text
from .reasoning_request import reasoning_spec, wants_reasoning
from .sampling_options import output_limits, require_stream_options, sampling_params
from .tool_request import ToolUse, chat_tool_use


def prepare_chat(body: ChatRequest, model: LoadedModel) -> PreparedCall:
    """The generation for a chat completion.

    Raises:
        InvalidBody: fields contradict each other, or state several constraints, or the engine follows no drafts.
        UnknownModel: another model is loaded.
        TooLong, InvalidRequest: the prompt does not fit, or the template refuses it.
    """
    adapter = require_model(body.model, model)
    require_stream_options(body)
    if body.top_logprobs is not None and not body.logprobs:
        raise refused("/top_logprobs", "needs logprobs: true")
    content = stated_constraint(body)
    sources = image_sources(body.messages)
    model.images.check(sources)
    messages = conversation(body.messages)
    content = None if content is None else content.about(user_text(messages))
    use = chat_tool_use(body, model.tools, content)
    variables = body.chat_template_kwargs or {}
    wanted = wants_reasoning(body.reasoning_effort, body.thinking_token_budget, variables)
    options = PromptOptions(
        tools=use.tools if use else (),
        variables=variables,
        reasons=wanted,
        effort=body.reasoning_effort,
        schema=use.plan.shown if use else content.schema if content else None,
    )
    prompt = chat_prompt(model.text, messages, model.tools, options)
    tokens, images = model.images.filled(prompt.tokens, sources)
    limit = _limit(body, model, len(tokens))
    call_id = f"chatcmpl-{uuid4().hex}"
    form = _form(body, model, call_id, len(tokens), use)
    if images:
        form = replace(form, image_tokens=sum(image.tokens for image in images))
    stated = use.stated if use else content
    spec = specification(call_id, (tokens,), body, stated, (limit, _alternatives(body)))
    spec = replace(spec, adapter=adapter, images=images, budget_field=_budget_field(body))
    if use is not None:
        spec = replace(spec, check=use.check, is_cut_off=use.is_cut_off)
    spec = replace(spec, free_tokens=_free_tokens(body, model, spec))
    if prompt.reasons:
        effort, budget = body.reasoning_effort, body.thinking_token_budget
        spec = replace(spec, reasoning=reasoning_spec(model.text, limit, effort, budget))
    return PreparedCall(spec, form, bool(body.stream), stated)


def _limit(body: ChatRequest, model: LoadedModel, prompt: int) -> int:
    field = _budget_field(body)
    return answer_budget(model.info, prompt, getattr(body, field), field, "messages")


def _budget_field(body: ChatRequest) -> str:
    return "max_tokens" if body.max_completion_tokens is None else "max_completion_tokens"


def _alternatives(body: ChatRequest) -> int | None:
    """How many alternatives to report with each token; None without log-probabilities."""
    return (body.top_logprobs or 0) if body.logprobs else None


def _free_tokens(body: ChatRequest, model: LoadedModel, spec: GenerationSpec) -> int | None:
    """The budget of a free answer before the constrained one; None if none is asked for."""
    if not body.draft:
        if body.draft_max_tokens is not None:
            raise refused("/draft_max_tokens", "needs draft: true")
        return None
    if spec.constraint is None:
        raise refused("/draft", "needs a constraint", "give response_format, tools, or a grammar")
    require_followed(model.info, "draft")
    return body.draft_max_tokens or FREE_TOKENS


def _form(
    body: ChatRequest, model: LoadedModel, call_id: str, prompt: int, use: ToolUse | None
) -> ChatForm:
    options = body.stream_options
    return ChatForm(
        id=call_id,
        created=int(time.time()),
        model=body.model or model.info.model,
        fingerprint=f"intaglio-{model.version}",
        prompt_tokens=prompt,
        texts=model.text.vocabulary.tokens,
        alternatives=_alternatives(body),
        usage_at_end=bool(options and options.include_usage),
        usage_always=bool(options and options.continuous_usage_stats),
        reader=use.plan.reader if use else ContentReader,
    )


def specification(
    call_id: str,
    prompts: tuple[tuple[int, ...], ...],
    options: OpenAIOptions,
    stated: Stated | None,
    limits: tuple[int, int | None],
) -> GenerationSpec:
    """The generation that options ask for. `limits`: the tokens of an answer, the alternatives to report with each.

    Raises:
        InvalidBody: a key of `logit_bias` is not a token id.
    """
    constraint = stated.constraint if stated else None
    return GenerationSpec(
        id=call_id,
        prompts=prompts,
        sampling=sampling_params(options, *limits),
        n=options.n or 1,
        constraint=constraint,
        limits=output_limits(constraint),
        check=check_of(constraint, stated.schema) if stated and constraint else None,
        keep_stop=bool(options.include_stop_str_in_output),
        priority=options.priority or 0,
        whole=not options.stream,
    )


def require_model(name: str | None, model: LoadedModel) -> AdapterRef | None:
    """The adapter of that name; None if the loaded model has it, or none is given.

    Raises:
        UnknownModel: neither the model nor an adapter has it.
    """
    info = model.info
    if name is None or name == info.model:
        return None
    adapter = model.adapters(name)
    if adapter is not None:
        return adapter
    raise UnknownModel(
        f"the model {name!r} does not exist here",
        param="model",
        hint=f"the loaded model is {info.model!r}; GET /v1/models lists it",
    )
