"""The output of a generation, as frozen events.

Does: define the events. Does not: make them (`generate`) or put them on a wire.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ScoredToken:
    """One token with its natural log-probability, and the most likely ones in its place as (token, log-probability).

    `offset` is the index in the choice's text of the first character to which the token contributes.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...]
    offset: int


@dataclass(frozen=True, slots=True)
class ChoiceDelta:
    """The next text of a choice: whole characters, and no part of what may become a stop string.

    `tokens` are present if log-probabilities were asked for. `count` is the number of tokens of the choice so far.
    """

    choice: int
    text: str
    tokens: tuple[ScoredToken, ...] = ()
    count: int = 0


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """The next text of the reasoning before a choice's answer. `count` is the number of its tokens so far."""

    choice: int
    text: str
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceEnd:
    """The end of a choice, its last event.

    `finish` is `length` if the budget cut the text off; an answer that the engine completed in the shortest way because
    its budget ran out has `stop` and `budget_forced`. `stopped` is the stop string that ended the text. `cached_tokens`
    counts the prompt tokens found in the prefix cache, where the engine reported them; `reasoning_tokens` those of the
    output that came before the answer. `draft_tokens` are those of a free answer before it, and not among the output;
    `accepted_tokens` are tokens of the output that were computed ahead, as drafts. `decode_s` is the engine's time from
    the first token to the last, in seconds; 0 where the engine reported none, as after a stop string.
    """

    choice: int
    finish: Literal["stop", "length"]
    prompt_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    forced_tokens: int = 0
    budget_forced: bool = False
    stopped: str | None = None
    reasoning_tokens: int = 0
    draft_tokens: int = 0
    accepted_tokens: int = 0
    decode_s: float = 0.0


GenerationEvent = ChoiceDelta | ReasoningDelta | ChoiceEnd
