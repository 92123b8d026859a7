"""The fields of a request that limit a model's reasoning before its answer.

Does: define shapes and bounds. Does not: find out whether a model reasons (`service/generation/reasoning_marks.py`).
"""

from typing import Any, Literal

from pydantic import Field

from ..base import MAX_COUNT, Wire

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]


class ReasoningFields(Wire):
    """`reasoning_effort` is the share of the answer's tokens that reasoning may take; `none` turns it off.

    `thinking_token_budget` states these tokens. `chat_template_kwargs` are variables of the chat template; of these,
    `enable_thinking` or `thinking` turns reasoning on and off. Models without reasoning in their template ignore
    all of them. `include_reasoning` and `separate_reasoning` have no effect: reasoning is apart from the content.
    """

    reasoning_effort: Effort | None = None
    thinking_token_budget: int | None = Field(default=None, ge=0, le=MAX_COUNT)
    chat_template_kwargs: dict[str, Any] | None = None
    include_reasoning: bool | None = Field(default=None, description="No effect.")
    separate_reasoning: bool | None = Field(default=None, description="No effect.")
