"""Sampling options of OpenAI-compatible requests as the engine's parameters.

Does: convert the fields, and refuse those that contradict each other. Does not: check single fields
(`schemas/openai/options.py`).
"""

from typing import Final

from intaglio.engine.api import OutputLimits, SamplingParams
from intaglio.grammar.api import Constraint, Kind
from intaglio.schemas.openai.options import OpenAIOptions, SamplingFields

from ..dialects.stated import refused

_LEAST_TOP_P: Final = 1e-6  # so 0 means the most likely token only


def sampling_params(
    fields: SamplingFields, max_tokens: int, logprobs: int | None
) -> SamplingParams:
    """The parameters of a request; `logprobs` is the number of alternatives to report, None for no report.

    Raises:
        InvalidBody: a key of `logit_bias` is not a token id.
    """
    return SamplingParams(
        max_tokens=max_tokens,
        temperature=1.0 if fields.temperature is None else fields.temperature,
        top_k=max(fields.top_k or 0, 0),
        top_p=1.0 if fields.top_p is None else max(fields.top_p, _LEAST_TOP_P),
        min_p=fields.min_p or 0.0,
        seed=fields.seed,
        repetition_penalty=fields.repetition_penalty or 1.0,
        presence_penalty=fields.presence_penalty or 0.0,
        frequency_penalty=fields.frequency_penalty or 0.0,
        logit_bias=_bias(fields.logit_bias or {}),
        logprobs=logprobs,
        stop=_stops(fields.stop),
        stop_token_ids=tuple(fields.stop_token_ids or ()),
        ignore_eos=bool(fields.ignore_eos),
    )


def output_limits(constraint: Constraint | None) -> OutputLimits | None:
    """Limits by which an answer under a JSON Schema is completed within its budget; None for other answers."""
    is_json = constraint is not None and constraint.kind is Kind.JSON_SCHEMA
    return OutputLimits() if is_json else None


def require_stream_options(options: OpenAIOptions) -> None:
    """Return if the options of a stream make sense.

    Raises:
        InvalidBody: they ask for usage in the chunks of an answer that is not streamed.
    """
    given = options.stream_options
    if given is not None and given.include_usage and not options.stream:
        raise refused("/stream_options", "needs stream: true", "omit it, or stream")


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    if stop is None:
        return ()
    return (stop,) if isinstance(stop, str) else tuple(dict.fromkeys(stop))


def _bias(given: dict[str, float]) -> dict[int, float]:
    found = {}
    for key, bias in given.items():
        if not (key.isascii() and key.isdecimal() and len(key) < 10):
            raise refused("/logit_bias", "keys must be token ids", "POST /tokenize gives the ids")
        found[int(key)] = bias
    return found
