"""The frozen messages of one step: what is to be computed, what may be picked, what was picked.

Does: carry facts between scheduler, executor, constraints and outputs. Does not: hold live objects or tensors; every
message can cross a process.

Messages of which every step makes one or more are structs: made several times faster than data classes.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass

from intaglio.grammar.api import MaskRows
from msgspec import Struct

from .types import Failure, Finish, SamplingParams, TokenLogprob, Usage

PLACEHOLDER = -1
"""Stands in a `Work` for a token in flight: the plan before picks it, and only the executor knows it yet."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A sequence the executor has not seen, or has forgotten since it was preempted.

    `tokens` are all known tokens, of which the first `prompt_length` are the prompt; `blocks` is its whole block table.
    """

    seq_id: int
    tokens: tuple[int, ...]
    prompt_length: int
    blocks: tuple[int, ...]
    sampling: SamplingParams


class Work(Struct, frozen=True, gc=False):
    """Compute `tokens` of one sequence at positions `start, start + 1, …` and store their keys and values.

    `new_blocks` are appended to the executor's copy of its block table first (empty for one admitted in this plan: its
    table is whole). `logits` rows are made, one for each of its last tokens, and a token is picked from each: none
    within a prompt, one where the work reaches the end of what is known, more where its last tokens are drafts. The
    last token may be `PLACEHOLDER`.
    """

    seq_id: int
    start: int
    tokens: tuple[int, ...]
    new_blocks: tuple[int, ...] = ()
    logits: int = 0

    @property
    def end(self) -> int:
        """The position after its last token: that of the token to be picked."""
        return self.start + len(self.tokens)


class Plan(Struct, frozen=True):
    """One step: which sequences compute which tokens, in which blocks; `released` sequences are forgotten first."""

    step: int
    admitted: tuple[Admitted, ...] = ()
    works: tuple[Work, ...] = ()
    released: tuple[int, ...] = ()

    @property
    def token_count(self) -> int:
        """Tokens computed in this step."""
        return sum([len(work.tokens) for work in self.works])


@dataclass(frozen=True, slots=True)
class Replay:
    """What an executor must replay to know the position of a sequence in `grammar`, whose masks it makes itself.

    The executor follows its own picks under such masks. `text` is the part of the output that was not picked under
    them. With `reset` it is the whole output, followed from the start; with `undo_last` it comes in place of the last
    pick that the executor followed.
    """

    grammar: str
    text: bytes
    reset: bool = False
    undo_last: bool = False


class Masks(Struct, frozen=True):
    """Packed mask rows (int32 [rows, words], bit 1 = allowed) of the constrained sequences that get a token.

    Row `row_of[seq_id]` belongs to that sequence; where a work has several rows of logits, so do the rows after it, in
    order. The executor makes the masks of the sequences `on_device` itself, after the `replays` of those that it has
    not followed alone. Sequences that are in neither are free.
    """

    rows: MaskRows
    row_of: Mapping[int, int]
    on_device: Set[int] = frozenset()
    replays: Mapping[int, Replay] = {}


class SampledToken(Struct, frozen=True, gc=False):
    """The tokens picked for one sequence: one for each row of logits that its work asked for.

    `failure` is set, and `tokens` empty, where the logits were not usable (not a number).
    """

    seq_id: int
    tokens: tuple[int, ...]
    logprobs: tuple[TokenLogprob, ...] = ()
    failure: Failure | None = None


class SampledBatch(Struct, frozen=True):
    """One `SampledToken` for each work of the plan that asked for logits, in the plan's order."""

    picks: tuple[SampledToken, ...] = ()


class Change(Struct, frozen=True, gc=False):
    """What a commit did to one sequence: tokens appended, and its finish and usage if it ended.

    An end token is not among `tokens`; `logprobs` has one entry a token where they were asked for, else none.
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
    """What steps in which every sequence goes on by `longest` tokens at most were measured to cost an executor.

    `seconds`: numbers of tokens, ascending, each with its seconds; numbers in between cost what the next one does.
    """

    seconds: tuple[tuple[int, float], ...]
    longest: int


class Forced(Struct, frozen=True):
    """Tokens the grammar leaves no choice about, by sequence; and sequences whose matcher broke, with the reason.

    The tokens follow what was picked, except for the sequences in `instead`: they could not have been completed within
    their budget after it, so the tokens, which complete them, take its place. Of sequences in `looped` a value is ended
    by the tokens from the first number up to the second, because it repeated itself.
    """

    tokens: Mapping[int, tuple[int, ...]]
    failures: Mapping[int, Failure]
    instead: frozenset[int] = frozenset()
    looped: Mapping[int, tuple[int, int]] = {}
