"""Translates the body of a response request into a generation.

Does: check rules across fields, prepend earlier items, render the prompt, set the budget. Does not:
parse bodies, run anything, or keep responses (`response_store`).
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

from intaglio.schemas.openai.options import SamplingFields
from intaglio.schemas.openai.responses import (
    AllowedFunctions,
    FunctionTool,
    NamedTool,
    ResponsesRequest,
    TextFormat,
)
from intaglio.schemas.openai.responses_items import InputItem, InputMessage

from ..dialects.stated import Stated, json_stated, object_stated, refused
from ..generation.answer_check import check_of
from ..generation.generation_spec import GenerationSpec
from ..generation.prepared_call import LoadedModel, PreparedCall
from ..generation.token_room import answer_budget
from ..tools.reply_parts import ContentReader
from ..tools.tool_values import Tool, ToolChoice
from .chat_prompt import PromptOptions, chat_prompt, user_text
from .prepare_chat import require_model
from .reasoning_request import reasoning_spec
from .response_answer import ResponseForm
from .response_input import conversation
from .response_items import random_id
from .sampling_options import output_limits, sampling_params
from .tool_request import ToolUse, chosen, require_object, tool_use

_LOGPROBS: Final = "message.output_text.logprobs"


class Kept(Protocol):
    """The responses that a server keeps for one tenant."""

    def items(self, response: str) -> list[InputItem]:
        """The input and output items of a response and of those before it. Raises `UnknownResponse`."""
        ...

    def keep(self, items: Sequence[InputItem], response: dict[str, Any]) -> Awaitable[None]:
        """Keep a response and the items before its output."""
        ...


def prepare_response(
    body: ResponsesRequest,
    model: LoadedModel,
    kept: Kept | None,
    failed: Callable[[ResponseForm, Exception], bytes],
) -> PreparedCall:
    """The generation for a response. `kept`: None for a server that keeps none.

    Raises:
        InvalidBody: fields contradict each other.
        UnknownModel: another model is loaded.
        UnknownResponse: the previous response is not kept.
        TooLong, InvalidRequest: the prompt does not fit, or the template refuses it.
    """
    adapter = require_model(body.model, model)
    items = _items(body, kept)
    messages = conversation(items, body.instructions)
    if not messages:
        raise refused("/input", "has no message", "give a text, or items with a message")
    content = _content(None if body.text is None else body.text.format)
    content = None if content is None else content.about(user_text(messages))
    use = _tool_use(body, model, content)
    effort = body.reasoning.effort if body.reasoning else None
    options = PromptOptions(
        tools=use.tools if use else (),
        reasons=None if effort is None else effort != "none",
        effort=effort,
        schema=use.plan.shown if use else content.schema if content else None,
        pointer="/input",
    )
    prompt = chat_prompt(model.text, messages, model.tools, options)
    limit = answer_budget(
        model.info, len(prompt.tokens), body.max_output_tokens, "max_output_tokens", "input"
    )
    stated = use.stated if use else content
    spec = replace(_specification(body, prompt.tokens, limit, stated, use), adapter=adapter)
    if prompt.reasons:
        spec = replace(spec, reasoning=reasoning_spec(model.text, limit, effort, None))
    form = ResponseForm(
        base=_base(body, model, spec.id, store=kept is not None),
        prompt_tokens=len(prompt.tokens),
        texts=model.text.vocabulary.tokens,
        alternatives=spec.sampling.logprobs,
        reader=use.plan.reader if use else ContentReader,
        keep=None if kept is None or body.store is False else partial(kept.keep, items),
    )
    return PreparedCall(spec, form, bool(body.stream), stated, partial(failed, form))


def _items(body: ResponsesRequest, kept: Kept | None) -> list[InputItem]:
    given = body.input
    if given is None and body.previous_response_id is None and body.instructions is None:
        raise refused(
            "/input",
            "this field is required",
            "without it, give instructions or previous_response_id",
        )
    own: list[InputItem] = list(given) if isinstance(given, list) else []
    if isinstance(given, str) or (given is None and body.previous_response_id is None):
        own = [InputMessage(role="user", content=given or "")]
    if body.previous_response_id is None:
        return own
    if kept is None:
        raise refused(
            "/previous_response_id",
            "this server keeps no responses",
            "start it with a data folder (intaglio serve --data DIR), or send all items as input",
        )
    return [*kept.items(body.previous_response_id), *own]


def _content(form: TextFormat | None) -> Stated | None:
    """The constraint of the text.

    Raises:
        InvalidBody: a schema is missing, or there is one that has no effect.
    """
    place = "/text/format/schema"
    if form is None or form.type == "text":
        if form is not None and form.schema_ is not None:
            raise refused(place, "needs type json_schema")
        return None
    if form.type == "json_object":
        if form.schema_ is not None:
            raise refused(place, "needs type json_schema")
        return object_stated("/text/format")
    if form.schema_ is None:
        raise refused(place, "this field is required with type json_schema")
    return json_stated(place, form.schema_)


def _tool_use(body: ResponsesRequest, model: LoadedModel, content: Stated | None) -> ToolUse | None:
    tools = tuple(_tool(tool, number) for number, tool in enumerate(body.tools or ()))
    return tool_use(tools, _choice(body), model.tools, content)


def _tool(tool: FunctionTool, number: int) -> Tool:
    pointer = f"/tools/{number}/parameters"
    return require_object(Tool(tool.name, tool.description or "", tool.parameters, pointer))


def _choice(body: ResponsesRequest) -> ToolChoice | None:
    given, parallel = body.tool_choice, body.parallel_tool_calls is not False
    if given == "none":
        return None
    if isinstance(given, NamedTool):
        return chosen("required", [given.name], parallel=False)
    if isinstance(given, AllowedFunctions):
        return chosen(given.mode, [tool.name for tool in given.tools], parallel=parallel)
    return chosen(given or "auto", None, parallel=parallel)


def _specification(
    body: ResponsesRequest,
    prompt: tuple[int, ...],
    limit: int,
    stated: Stated | None,
    use: ToolUse | None,
) -> GenerationSpec:
    fields = SamplingFields(
        temperature=body.temperature,
        top_p=body.top_p,
        presence_penalty=body.presence_penalty,
        frequency_penalty=body.frequency_penalty,
        seed=body.seed,
    )
    scored = bool(body.top_logprobs) or _LOGPROBS in (body.include or ())
    constraint = None if stated is None else stated.constraint
    check = check_of(constraint, stated.schema) if stated and constraint else None
    return GenerationSpec(
        id=random_id("resp"),
        prompts=(prompt,),
        sampling=sampling_params(fields, limit, (body.top_logprobs or 0) if scored else None),
        constraint=constraint,
        limits=output_limits(constraint),
        check=use.check if use else check,
        is_cut_off=use.is_cut_off if use else None,
        whole=not body.stream,
        budget_field="max_output_tokens",
    )


def _base(
    body: ResponsesRequest, model: LoadedModel, response: str, *, store: bool
) -> dict[str, Any]:
    """A response before it has output: the options it is made with, defaults included."""

    def plain(value: Any) -> Any:
        return value.model_dump(by_alias=True, exclude_unset=True)

    text = plain(body.text) if body.text is not None else {}
    choice = body.tool_choice or "auto"
    return {
        "id": response,
        "object": "response",
        "created_at": int(time.time()),
        "completed_at": None,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": body.instructions,
        "model": model.info.model,
        "output": [],
        "previous_response_id": body.previous_response_id,
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "tools": [_shown(tool) for tool in body.tools or ()],
        "tool_choice": choice if isinstance(choice, str) else plain(choice),
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": body.max_tool_calls,
        "metadata": body.metadata or {},
        "reasoning": {
            "effort": body.reasoning.effort if body.reasoning else None,
            "summary": None,
        },
        "text": {"format": {"type": "text"}, **{k: v for k, v in text.items() if v is not None}},
        "temperature": 1.0 if body.temperature is None else body.temperature,
        "top_p": 1.0 if body.top_p is None else body.top_p,
        "presence_penalty": body.presence_penalty or 0.0,
        "frequency_penalty": body.frequency_penalty or 0.0,
        "top_logprobs": body.top_logprobs or 0,
        "truncation": body.truncation or "disabled",
        "usage": None,
        "store": store and body.store is not False,
        "background": False,
        "service_tier": "default",
        "user": body.user,
        "safety_identifier": body.safety_identifier,
        "prompt_cache_key": body.prompt_cache_key,
    }


def _shown(tool: FunctionTool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": tool.strict is not False,
    }
