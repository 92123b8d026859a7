"""Whether a request can be served at all, judged before anything is computed.

Does: check its numbers against the model and the memory. Does not: know the queue, or compile a constraint.
"""

import math
from dataclasses import dataclass

from ..errors import InvalidRequest, TooLong
from ..types import Request, SamplingParams

MOST_PRIORITY = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What the model allows. `vocab_size` is the width of its logits; `end_tokens` are its end-of-sequence tokens."""

    max_context: int
    vocab_size: int
    end_tokens: frozenset[int]


def admit(request: Request, limits: Limits, capacity: int) -> None:
    """Pass a request that can be served; `capacity` is how many tokens the whole KV memory holds.

    Raises:
        InvalidRequest: a number is out of range.
        TooLong: prompt and output cannot fit the context, or the KV memory, even alone.
    """
    _check_sampling(request.sampling, limits)
    if not request.prompt:
        raise InvalidRequest("the prompt has no token", where="prompt")
    if not 0 <= min(request.prompt) <= max(request.prompt) < limits.vocab_size:
        raise InvalidRequest(
            f"a prompt token is not a number from 0 to {limits.vocab_size - 1}", where="prompt"
        )
    if request.deadline is not None and not 0 < request.deadline < math.inf:
        raise InvalidRequest(
            f"a deadline is seconds from now, above 0, not {request.deadline}", where="deadline"
        )
    if not -MOST_PRIORITY <= request.priority <= MOST_PRIORITY:
        raise InvalidRequest(
            f"priority is {request.priority} and must be from -{MOST_PRIORITY} to {MOST_PRIORITY}",
            where="priority",
        )
    prompt, output = len(request.prompt), request.sampling.max_tokens
    most, what = min(
        (limits.max_context, "the model's context"),
        (capacity + 1, "the KV memory"),  # the last token is picked and never computed
    )
    if prompt >= most:
        raise TooLong(
            f"{prompt} prompt tokens do not fit {what}, {most} tokens, with room for an answer",
            where="prompt",
            hint=f"shorten the prompt to {most - output if most > output else most - 1} tokens",
        )
    if prompt + output > most:
        raise TooLong(
            f"{prompt} prompt tokens and max_tokens {output} do not fit {what}, {most} tokens",
            where="max_tokens",
            hint=f"shorten the prompt, or set max_tokens to {most - prompt} at most",
        )


def _check_sampling(sampling: SamplingParams, limits: Limits) -> None:
    ranges: tuple[tuple[str, float, float, float], ...] = (
        ("max_tokens", sampling.max_tokens, 1, math.inf),
        ("temperature", sampling.temperature, 0, 100),
        ("top_k", sampling.top_k, 0, math.inf),
        ("top_p", sampling.top_p, math.nextafter(0, 1), 1),
        ("min_p", sampling.min_p, 0, 1),
        ("seed", sampling.seed or 0, 0, 2**63 - 1),
        ("repetition_penalty", sampling.repetition_penalty, math.nextafter(0, 1), 100),
        ("presence_penalty", sampling.presence_penalty, -100, 100),
        ("frequency_penalty", sampling.frequency_penalty, -100, 100),
        ("logprobs", sampling.logprobs or 0, 0, limits.vocab_size),
    )
    for name, value, least, most in ranges:
        if not least <= value <= most:  # not a number is in no range
            raise InvalidRequest(
                f"{name} is {value} and must be from {least:g} to {most:g}", where=name
            )
    for token, bias in sampling.logit_bias.items():
        if not 0 <= token < limits.vocab_size or not math.isfinite(bias):
            raise InvalidRequest(
                f"logit_bias gives token {token} the bias {bias}: tokens are 0 to "
                f"{limits.vocab_size - 1}, biases are finite",
                where="logit_bias",
            )
    for token in sampling.stop_token_ids:
        if not 0 <= token < limits.vocab_size:
            raise InvalidRequest(
                f"stop token {token} is not a number from 0 to {limits.vocab_size - 1}",
                where="stop_token_ids",
            )
