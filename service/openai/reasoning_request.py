"""The reasoning budget of a request, from OpenAI's and other servers' fields.

Does: read effort, budget and variables of templates. Does not: find out whether a model reasons
(`chat_prompt`).
"""

from typing import Any, Final

from intaglio.engine.api import Piece, marks_of

from ..dialects.stated import refused
from ..extraction.text_model import TextModel
from ..generation.generation_spec import ReasoningSpec

# The share of an answer's tokens that reasoning may take.
_SHARES: Final = {"minimal": 0.1, "low": 0.25, "medium": 0.5, "high": 0.75, "xhigh": 0.9}


def wants_reasoning(
    effort: str | None, budget: int | None, variables: dict[str, Any]
) -> bool | None:
    """Whether a request wants reasoning; None: it does not say.

    Raises:
        InvalidBody: `enable_thinking` is not a boolean.
    """
    for name in ("enable_thinking", "thinking"):
        if name in variables:
            if not isinstance(variables[name], bool):
                raise refused(f"/chat_template_kwargs/{name}", "must be true or false")
            return bool(variables[name])
    if budget is not None:
        return budget > 0
    return None if effort is None else effort != "none"


def reasoning_spec(
    model: TextModel, most: int, effort: str | None, budget: int | None
) -> ReasoningSpec | None:
    """The reasoning of an answer of `most` tokens; None for a model that does not reason."""
    marks = marks_of(model.chat.source)
    if marks is None:
        return None
    if budget is None:
        budget = int(most * _SHARES.get(effort or "medium", _SHARES["medium"]))
    budget = max(1, min(budget, most))
    end_token = model.tokenizer.id_of(marks.end)
    if end_token is None or model.vocabulary.tokens[end_token] is not None:
        return ReasoningSpec(budget, marks.end, marks.after)
    closing = model.tokenizer.encode_pieces([Piece(marks.end + marks.after, trusted=True)])
    return ReasoningSpec(budget, end_token=end_token, closing=closing)
