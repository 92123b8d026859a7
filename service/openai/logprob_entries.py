"""Tokens with log-probabilities as OpenAI's two forms spell them.

Does: write the entries of chat completions and of completions. Does not: compute log-probabilities.
"""

from collections.abc import Sequence
from typing import Any, Final

from ..generation.generation_events import ScoredToken

_LEAST: Final = -9999.0
"""Stands for the log-probability of a token that cannot come, which is not a number in JSON."""

Texts = Sequence[bytes | None]
"""The bytes of each token of the vocabulary; None for control tokens."""


def chat_logprobs(tokens: Sequence[ScoredToken], texts: Texts, alternatives: int) -> dict[str, Any]:
    """The `logprobs` of a choice of a chat completion, with up to so many alternatives to each token.

    The engine reports none for a forced token. It becomes its own, because clients read the first alternative.
    """
    content = [
        {
            **_entry(scored.token, scored.logprob, texts),
            "top_logprobs": [
                _entry(token, logprob, texts)
                for token, logprob in scored.top or [(scored.token, scored.logprob)][:alternatives]
            ],
        }
        for scored in tokens
    ]
    return {"content": content, "refusal": None}


def completion_logprobs(
    tokens: Sequence[ScoredToken], texts: Texts, offset: int = 0
) -> dict[str, Any]:
    """The `logprobs` of a choice of a completion. `offset` is the length of a text before the answer's."""
    return {
        "tokens": [token_text(scored.token, texts) for scored in tokens],
        "token_logprobs": [_finite(scored.logprob) for scored in tokens],
        "top_logprobs": [
            {
                token_text(token, texts): _finite(logprob)
                for token, logprob in (*scored.top, (scored.token, scored.logprob))
            }
            for scored in tokens
        ],
        "text_offset": [offset + scored.offset for scored in tokens],
    }


def _entry(token: int, logprob: float, texts: Texts) -> dict[str, Any]:
    text = texts[token] or b""
    return {
        "token": text.decode(errors="replace"),
        "logprob": _finite(logprob),
        "bytes": list(text),
    }


def token_text(token: int, texts: Texts) -> str:
    """The text of a token; `bytes:\\xe2\\x82` for one that is a part of a character."""
    text = texts[token] or b""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in text)


def _finite(logprob: float) -> float:
    return max(logprob, _LEAST)  # also for NaN, which compares as false
