"""The token budget of an answer, from the context of the model and the length of the prompt.

Does: compute and check the budget. Does not: count the tokens of a prompt, or limit an extraction
(`service/extraction/budget.py`).
"""

from intaglio.engine.api import EngineInfo, TooLong


def answer_budget(
    info: EngineInfo,
    prompt: int,
    requested: int | None,
    where: str = "max_tokens",
    prompt_field: str = "prompt",
) -> int:
    """The token limit of an answer: as requested, or all that the prompt leaves of the context.

    `where` and `prompt_field` are the fields of the request that errors name.

    Raises:
        TooLong: the prompt leaves no room, or less than requested.
    """
    room = info.most_tokens
    left = room - prompt
    if left < 1:
        raise TooLong(
            f"the prompt has {prompt} tokens; the model takes {room}, answer included",
            where=prompt_field,
            hint=f"shorten the prompt by at least {1 - left} tokens",
        )
    if requested is not None and requested > left:
        raise TooLong(
            f"{prompt} prompt tokens and {where} {requested} make {prompt + requested}; "
            f"the model takes {room}",
            where=where,
            hint=f"set {where} to {left} at most, or shorten the prompt",
        )
    return left if requested is None else requested
