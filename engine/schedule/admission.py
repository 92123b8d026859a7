"""Validation of a request before anything is computed for it.

Does: check the type and the range of every field, against the model and the memory. A request may come from another
process or from a caller's own code, so no field is trusted. Does not: know the queue, or compile a constraint.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from intaglio.grammar.api import Constraint, KeyOrder, Kind, Whitespace

from ..errors import InvalidRequest, TooLong
from ..types import ImageFormat, Request, SamplingParams
from .image_admission import check_images

MOST_PRIORITY: Final = 1_000_000
MOST_DEADLINE_S: Final = 1e9
MOST_ID: Final = 512
MOST_SALT: Final = 4096
MOST_WEIGHT: Final = 1000.0
MOST_STOPS: Final = 4096
MOST_LOGPROBS: Final = 1024
MOST_BIAS: Final = 1e6
MOST_COUNT: Final = 2**31 - 1

_LEAST_SHARE: Final = 2.0**-126  # the smallest normal float32: the sampler computes in float32


class _Range(NamedTuple):
    least: float
    most: float
    whole: bool = False
    optional: bool = False


_RANGES: Mapping[str, _Range] = {
    "max_tokens": _Range(1, MOST_COUNT, whole=True),
    "temperature": _Range(0, 100),
    "top_k": _Range(0, MOST_COUNT, whole=True),
    "top_p": _Range(_LEAST_SHARE, 1),
    "min_p": _Range(0, 1),
    "seed": _Range(-(2**63), 2**63 - 1, whole=True, optional=True),
    "repetition_penalty": _Range(0.01, 100),
    "presence_penalty": _Range(-100, 100),
    "frequency_penalty": _Range(-100, 100),
    "logprobs": _Range(0, MOST_LOGPROBS, whole=True, optional=True),
}


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The limits of the model: `vocab_size` is the width of its logits; `end_tokens` are its end-of-sequence tokens.

    `images`: how it reads images; None if it reads none.
    """

    max_context: int
    vocab_size: int
    end_tokens: frozenset[int]
    images: ImageFormat | None = None


def admit(request: Request, limits: RequestLimits, capacity: int) -> None:
    """Check that a request can be served; `capacity` is the number of tokens that fit the whole KV memory.

    Raises:
        InvalidRequest: a field has the wrong type or is out of range.
        TooLong: prompt and output do not fit the context, or the KV memory with no other request.
    """
    _check_fields(request)
    _check_sampling(request.sampling, limits)
    _check_prompt(request.prompt, limits)
    _check_tokens("draft", request.draft, limits)
    check_images(request.prompt, request.images, limits.images)
    prompt, output = len(request.prompt), request.sampling.max_tokens
    most, what = min(
        (limits.max_context, "the model's context"),
        (capacity + 1, "the KV memory"),  # the last token is sampled and never computed
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


def _check_fields(request: Request) -> None:
    _check_text("id", request.id, MOST_ID)
    if not request.id:
        raise InvalidRequest("id is empty", where="id")
    _check_text("cache_salt", request.cache_salt, MOST_SALT)
    _check_text("tenant", request.tenant, MOST_ID)
    _check_number("weight", request.weight, _Range(1 / MOST_WEIGHT, MOST_WEIGHT))
    _check_type("bulk", request.bulk, bool)
    _check_number("priority", request.priority, _Range(-MOST_PRIORITY, MOST_PRIORITY, whole=True))
    deadline = _Range(math.ulp(0.0), MOST_DEADLINE_S, optional=True)
    _check_number("deadline", request.deadline, deadline)
    _check_type("sampling", request.sampling, SamplingParams)
    if request.constraint is not None:
        _check_constraint(request.constraint)


def _check_constraint(constraint: Constraint) -> None:
    """Check types only: the compiler checks the source."""
    _check_type("constraint", constraint, Constraint)
    kinds: dict[str, type] = {
        "kind": Kind,
        "whitespace": Whitespace,
        "key_order": KeyOrder,
        "source": str,
    }
    kinds |= {"schemas": tuple, "indent": int}
    kinds |= dict.fromkeys(("extra_properties", "formats", "exponents", "header"), bool)
    for name, kind in kinds.items():
        _check_type(f"constraint.{name}", getattr(constraint, name), kind)


def _check_prompt(prompt: tuple[int, ...], limits: RequestLimits) -> None:
    _check_type("prompt", prompt, tuple)
    if not prompt:
        raise InvalidRequest("the prompt has no token", where="prompt")
    _check_tokens("prompt", prompt, limits)


def _check_tokens(name: str, tokens: tuple[int, ...], limits: RequestLimits) -> None:
    _check_type(name, tokens, tuple)
    if not tokens:
        return
    # `set(map(type, …))` and not a loop: a prompt may have a million tokens.
    whole = set(map(type, tokens)) == {int}
    if not whole or not 0 <= min(tokens) <= max(tokens) < limits.vocab_size:
        raise InvalidRequest(
            f"a {name} token is not a number from 0 to {limits.vocab_size - 1}", where=name
        )


def _check_sampling(sampling: SamplingParams, limits: RequestLimits) -> None:
    for name, bounds in _RANGES.items():
        _check_number(name, getattr(sampling, name), bounds)
    _check_type("ignore_eos", sampling.ignore_eos, bool)
    token = _Range(0, limits.vocab_size - 1, whole=True)
    _check_type("logit_bias", sampling.logit_bias, dict)
    for biased, bias in sampling.logit_bias.items():
        _check_number("logit_bias", biased, token, "a token of logit_bias")
        _check_number("logit_bias", bias, _Range(-MOST_BIAS, MOST_BIAS), "a bias of logit_bias")
    _check_type("stop_token_ids", sampling.stop_token_ids, tuple)
    _check_type("stop", sampling.stop, tuple)
    for name in ("stop_token_ids", "stop"):
        if len(getattr(sampling, name)) > MOST_STOPS:
            raise InvalidRequest(f"{name} has more than {MOST_STOPS} entries", where=name)
    for stop in sampling.stop_token_ids:
        _check_number("stop_token_ids", stop, token, "a token of stop_token_ids")
    for text in sampling.stop:
        _check_text("stop", text, MOST_COUNT)


def _check_number(where: str, value: Any, bounds: _Range, name: str = "") -> None:
    """Raise `InvalidRequest` for a value that is not a number (`True` is not), or out of range."""
    if value is None and bounds.optional:
        return
    numeric = type(value) is int or (type(value) is float and not bounds.whole)
    if numeric and bounds.least <= value <= bounds.most:  # false for NaN
        return
    kind = "a whole number" if bounds.whole else "a number"
    least, most = (f"{edge:.16g}" for edge in (bounds.least, bounds.most))
    raise InvalidRequest(
        f"{name or where} must be {kind} from {least} to {most}, not {_shown(value)}", where=where
    )


def _check_text(name: str, value: Any, most: int) -> None:
    _check_type(name, value, str)
    if len(value) > most:
        raise InvalidRequest(f"{name} is longer than {most} characters", where=name)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequest(f"{name} holds half a surrogate pair", where=name) from None


def _check_type(name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise InvalidRequest(
            f"{name} must be of type {kind.__name__}, not {type(value).__name__}", where=name
        )


def _shown(value: object) -> str:
    """A short text of a value for a message: Python refuses to write out an integer of 5,000 digits."""
    if type(value) is int:
        return str(value) if value.bit_length() <= 128 else f"one of {value.bit_length()} bits"
    return str(value) if type(value) is float else f"a value of type {type(value).__name__}"
