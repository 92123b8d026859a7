"""Frozen values shared inside the engine and with its callers: requests, sampling, deltas, usage.

Does: define the fields. Does not: contain logic. All values can be sent to another process.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Literal

from intaglio.grammar.api import Constraint
from msgspec import Struct

KVRole = Literal["none", "prefill", "decode"]
"""The part of an engine among several: it keeps the blocks of prompts for others, or takes them; see `CacheConfig`."""


class Finish(StrEnum):
    """The reason why a request ended. Every request ends exactly once, with exactly one of these."""

    STOP = "stop"  # an end token, a stop token, a stop string, or the grammar's end
    LENGTH = "length"  # `max_tokens` was reached
    ABORT = "abort"  # the caller disconnected or aborted it
    DEADLINE = "deadline"  # the request's deadline passed
    ERROR = "error"  # see `Delta.error`


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """The sampling options of a request. The defaults sample from the model's own distribution.

    `temperature` 0 is greedy. `top_k` 0, `top_p` 1 and `min_p` 0 truncate nothing. `seed` fixes the draws of this
    request, independent of the other requests in a batch; it has 64 bits, with a sign. `logprobs` asks for the
    log-probability of each sampled token and of that many most likely alternatives; with `masked_share` the former also
    has the share of the model's probability that the constraint removed. `stop` strings are matched by the text layer,
    across token boundaries.
    """

    max_tokens: int = 256
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int | None = None
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = field(default_factory=dict)
    logprobs: int | None = None
    masked_share: bool = False
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False

    @property
    def is_penalised(self) -> bool:
        """Whether a penalty counts the tokens before the sampled one."""
        return self.repetition_penalty != 1 or bool(self.presence_penalty or self.frequency_penalty)


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """Limits on the length of an output under a JSON Schema. A limited output is completed in the shortest legal way.

    A value that repeats itself is ended, unless the prompt contains that repetition. With `room`, the output has at
    most that many tokens more than the shortest legal output, where the length of the latter is known.
    """

    room: int | None = None


@dataclass(frozen=True, slots=True)
class AdapterRef:
    """A low-rank adapter of a request: its name for people, the digest of its files, and their folder.

    The digest identifies the adapter: a folder with other files by now is refused.
    """

    name: str
    digest: str
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptImage:
    """An image in a prompt: the place of its tokens, and its pixels in the size that the model reads.

    The tokens from `start` on stand for a grid of `rows` times `columns` cells, row by row. `pixels` are RGB bytes,
    row by row. `digest` is the hash of grid and pixels, which `of` computes.
    """

    start: int
    rows: int
    columns: int
    pixels: bytes
    digest: bytes

    @classmethod
    def of(cls, start: int, rows: int, columns: int, pixels: bytes) -> "PromptImage":
        """The image with these pixels."""
        found = image_digest(rows, columns, pixels)
        return cls(start=start, rows=rows, columns=columns, pixels=pixels, digest=found)

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return self.rows * self.columns

    @property
    def end(self) -> int:
        """The position after its last token."""
        return self.start + self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFormat:
    """How a model reads images: each cell of `factor` times `factor` pixels is one `token` of the prompt.

    Images are resized to between `least` and `most` pixels.
    """

    token: int
    factor: int
    least: int
    most: int


def image_digest(rows: int, columns: int, pixels: bytes) -> bytes:
    """The name of an image by its content: two images with the same name are the same image."""
    return blake2b(b"%d %d " % (rows, columns) + pixels, digest_size=32).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One generation. `prompt` is token ids; `deadline` is seconds from admission to the engine, None = none.

    `images` are those in the prompt, in its order.

    A smaller `priority` is served first; ties go by arrival. Requests of one `tenant` share its turns at the engine,
    which are as long as its `weight`. Interactive requests go before `bulk` ones, which give way to them. The keys
    and values of a prompt prefix are shared only among requests of the same `cache_salt`: a salt for each tenant
    prevents a tenant from detecting, by response times, what another tenant has sent. With an `adapter` the model
    computes with its matrices added; None: the model as it is. `draft` is a likely output, which may save time and
    never changes the output (`EngineInfo.draft_sources`).

    With `exports` the keys and values of its full blocks are kept for other engines when it ends; `kv_peer` is the
    address of an engine that has kept those of the prompt, "" for none.
    """

    id: str
    prompt: tuple[int, ...]
    sampling: SamplingParams
    images: tuple[PromptImage, ...] = ()
    constraint: Constraint | None = None
    limits: OutputLimits | None = None
    priority: int = 0
    deadline: float | None = None
    cache_salt: str = ""
    tenant: str = ""
    weight: float = 1.0
    bulk: bool = False
    adapter: AdapterRef | None = None
    draft: tuple[int, ...] = ()
    exports: bool = False
    kv_peer: str = ""


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """Natural log-probability of one sampled token and of the most likely ones, under the legal distribution.

    `masked` is the share of the model's own probability that illegal tokens had, if requested. A forced token has
    probability 1 and no `top`.
    """

    token: int
    logprob: float
    top: tuple[tuple[int, float], ...] = ()
    masked: float | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a request ended in error: a stable `code`, a message for the caller, and a hint how to fix it."""

    code: str
    message: str
    hint: str = ""
    retryable: bool = False


class CutReason(StrEnum):
    """The reason why a value was ended without the model."""

    LOOPED = "looped"  # the value repeated itself
    BUDGET = "budget_forced"  # the budget of the output ran out


@dataclass(frozen=True, slots=True)
class Cut:
    """The tokens of an output, from `begin` up to `end`, that ended values in the shortest way."""

    reason: CutReason
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request, and the time of its phases, in seconds of the engine's monotonic clock.

    `budget` is the most tokens that the output could have, end token included; `cuts` are the places where its values
    were ended early. `budget_forced` is true if the output was completed in the shortest way because its budget ran
    out. `cached_tokens` counts the prompt tokens with keys and values found in the prefix cache. `accepted_tokens`
    counts the output tokens that were computed as drafts.

    `queue_s` runs from arrival to first admission, `prefill_s` from there to the first token, `decode_s` from there to
    the end.
    """

    prompt_tokens: int
    output_tokens: int
    forced_tokens: int = 0
    preemptions: int = 0
    budget_forced: bool = False
    queue_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0
    cached_tokens: int = 0
    budget: int = 0
    cuts: tuple[Cut, ...] = ()
    accepted_tokens: int = 0


class Delta(Struct, frozen=True, kw_only=True, gc=False):
    """The result of one step for one request. Only the last delta of a request has `finish` and `usage`.

    The end token itself is not among `tokens`.
    """

    request_id: str
    tokens: tuple[int, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()
    finish: Finish | None = None
    usage: Usage | None = None
    error: Failure | None = None
