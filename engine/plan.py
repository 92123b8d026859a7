"""The frozen messages of one step: the plan, the masks, the sampled tokens, the changes.

Does: carry facts between scheduler, executor, constraints and outputs. Does not: hold live objects or tensors; every
message can be sent to another process.

Messages that every step makes are msgspec structs, which are constructed several times faster than data classes.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from intaglio.grammar.api import MaskRows
from msgspec import Struct

from .types import Failure, Finish, PromptImage, SamplingParams, TokenLogprob, Usage

PLACEHOLDER = -1
"""The place of a token in flight in a `Work`: the previous plan samples it, and only the executor knows it yet."""

NO_ADAPTER = -1
"""The place of the adapter of a sequence that has none."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A sequence that is new to the executor, or that the executor forgot when it was preempted.

    `tokens` are all known tokens, of which the first `prompt_length` are the prompt; `blocks` is the whole block table
    of the first block group, and `other_tables` those of the other groups; `adapter` is the place of its adapter,
    `NO_ADAPTER` for none; `images` are those in the prompt.
    """

    seq_id: int
    tokens: tuple[int, ...]
    prompt_length: int
    blocks: tuple[int, ...]
    sampling: SamplingParams
    adapter: int = NO_ADAPTER
    images: tuple[PromptImage, ...] = ()
    other_tables: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class AdapterLoad:
    """Copy the adapter of this digest to a place on the device; whatever was there is used no more."""

    place: int
    digest: str


class Work(Struct, frozen=True, gc=False):
    """Compute `tokens` of one sequence at positions `start, start + 1, …` and store their keys and values.

    `new_blocks` are appended to the executor's copy of the block table first (empty for a sequence admitted in this
    plan, which has its whole table), and `other_blocks` to the tables of the other block groups, if there are any.
    Blocks behind the window of a group are no longer the sequence's: the executor forgets them. `logits` is the number
    of rows of logits, one for each of the last tokens; a token is sampled from each row. It is 0 within a prompt, 1
    where the work reaches the end of the known tokens, and more where the last tokens are drafts. The last token may be
    `PLACEHOLDER`.
    """

    seq_id: int
    start: int
    tokens: tuple[int, ...]
    new_blocks: tuple[int, ...] = ()
    logits: int = 0
    other_blocks: tuple[tuple[int, ...], ...] = ()

    @property
    def end(self) -> int:
        """The position after the last token: the position of the last token to be sampled."""
        return self.start + len(self.tokens)

    @property
    def is_known(self) -> bool:
        """Whether the planner knows all its tokens."""
        return self.tokens[-1] != PLACEHOLDER

    @property
    def drafts(self) -> tuple[int, ...]:
        """The last tokens, which are drafts."""
        return self.tokens[len(self.tokens) - self.logits + 1 :] if self.logits > 1 else ()

    def with_drafts(self, drafts: tuple[int, ...]) -> "Work":
        """This work, followed by `drafts`."""
        tokens, logits = self.tokens + drafts, self.logits + len(drafts)
        return Work(self.seq_id, self.start, tokens, self.new_blocks, logits, self.other_blocks)

    @property
    def undrafted(self) -> "Work":
        """This work without its drafts."""
        drafts = max(0, self.logits - 1)
        if not drafts:
            return self
        kept, logits = self.tokens[:-drafts], self.logits - drafts
        return Work(self.seq_id, self.start, kept, self.new_blocks, logits, self.other_blocks)


class Plan(Struct, frozen=True):
    """One step: the tokens that each sequence computes, and their blocks.

    `released` sequences are forgotten first. `loads` come before any token is computed.
    """

    step: int
    admitted: tuple[Admitted, ...] = ()
    works: tuple[Work, ...] = ()
    released: tuple[int, ...] = ()
    loads: tuple[AdapterLoad, ...] = ()

    @property
    def token_count(self) -> int:
        """Tokens computed in this step."""
        return sum([len(work.tokens) for work in self.works])


@dataclass(frozen=True, slots=True)
class Replay:
    """Bytes that an executor replays to reach the state of a sequence in `grammar`, where it makes the masks itself.

    The executor advances by its own samples under such masks. `text` is the part of the output that was not sampled
    under them. With `reset` it is the whole output, replayed from the start; with `undo_last` it replaces the last
    token that the executor advanced by.
    """

    grammar: str
    text: bytes
    reset: bool = False
    undo_last: bool = False


class Masks(Struct, frozen=True):
    """Packed mask rows (int32 [rows, words], bit 1 = allowed) of the constrained sequences that get a token.

    Row `row_of[seq_id]` is the mask of that sequence; a work with several rows of logits has the rows after it as well,
    in order. The executor makes the masks of the sequences `on_device` itself, after the `replays` of those that it
    could not follow alone. Sequences that are in neither are unconstrained.
    """

    rows: MaskRows
    row_of: Mapping[int, int]
    on_device: Set[int] = frozenset()
    replays: Mapping[int, Replay] = {}


class SampledToken(Struct, frozen=True, gc=False):
    """The tokens sampled for one sequence, one for each row of logits of its work.

    `failure` is set, and `tokens` is empty, where the logits of the first row were not usable (not a number). Where
    those of a later row were not, the tokens are those of the rows before it.
    """

    seq_id: int
    tokens: tuple[int, ...]
    logprobs: tuple[TokenLogprob, ...] = ()
    failure: Failure | None = None


class SampledBatch(Struct, frozen=True):
    """One `SampledToken` for each work of the plan with logits, in the plan's order."""

    samples: tuple[SampledToken, ...] = ()


class Change(Struct, frozen=True, gc=False):
    """The effect of a commit on one sequence: tokens appended, and its finish and usage if it ended.

    An end token is not among `tokens`; `logprobs` has one entry per token where the request asked for them, else none.
    """

    seq_id: int
    request_id: str
    tokens: tuple[int, ...] = ()
    logprobs: tuple[TokenLogprob, ...] = ()
    finish: Finish | None = None
    failure: Failure | None = None
    usage: Usage | None = None


class Changes(Struct, frozen=True):
    """All changes of one commit."""

    items: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class StepCosts:
    """The measured cost of steps that compute at most `longest` tokens of each sequence.

    `seconds`: numbers of tokens, ascending, each with its seconds; a number in between costs as much as the next one.
    """

    seconds: tuple[tuple[int, float], ...]
    longest: int


class Forced(Struct, frozen=True):
    """Forced tokens by sequence: the only tokens that the grammar allows; and the failures of matchers by sequence.

    The forced tokens follow the sampled one, except for the sequences in `instead`: after the sampled token their
    output could not be completed within its budget, so the forced tokens, which complete it, replace the sampled one.
    For sequences in `looped`, the forced tokens from the first index up to the second end a value that repeated itself.

    For sequences in `waiting` nothing is decided yet: their last token is computed and their next one sampled again.
    For a sequence that waited before this step, `kept` has the token sampled first, which counts.
    """

    tokens: Mapping[int, tuple[int, ...]]
    failures: Mapping[int, Failure]
    instead: frozenset[int] = frozenset()
    looped: Mapping[int, tuple[int, int]] = {}
    waiting: frozenset[int] = frozenset()
    kept: Mapping[int, SampledToken] = {}
