"""The input of a generation: prompts, sampling, constraint and the number of choices.

Does: hold the values, derive the seed of each choice. Does not: tokenise, examine constraints, or know a protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from intaglio.engine.api import AdapterRef, OutputLimits, PromptImage, Request, SamplingParams
from intaglio.grammar.api import Constraint

_GOLDEN: Final = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio, as in SplitMix64
_WORD: Final = 2**64


@dataclass(frozen=True, slots=True)
class ReasoningSpec:
    """Reasoning before an answer: at most `budget` tokens, ended by the text `end`; `after` precedes the answer.

    Where reasoning ends with a control token, which no text shows, `end_token` is its id, `end` and `after` are empty,
    and the tokens `closing` come between reasoning and answer, the end token first.
    """

    budget: int
    end: str = ""
    after: str = ""
    end_token: int | None = None
    closing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationSpec:
    """What to generate. Each of `prompts` has `n` choices, numbered from 0: the first prompt's, then the second's.

    `sampling.seed` may be any integer of 64 bits with a sign; `sampling.stop` holds the stop strings, which are not
    part of the text unless `keep_stop`. `sampling.max_tokens` must fit the context (`TokenRoom`). `constraint` has been
    examined and accepted. `limits` has the engine complete an answer under a JSON Schema within its budget.

    `check` gets the whole text of each choice that ended by itself, in a thread, and raises if it is not valid. A text
    that a stop string or the budget cut off is not checked. `is_cut_off` decides, for a text that the engine ended in
    the shortest way, whether it is free text that its budget cut off rather than a complete answer.

    `salt` separates the prefix cache of tenants. A smaller `priority` is served first. `deadline_s` is in seconds from
    admission. With `reasoning`, the prompts leave reasoning open, and the answer follows it. With `whole`, the deltas
    are not read, so that the engine may send each answer in one piece. `adapter` changes the model. `images` are those
    of each prompt. With `free_tokens`, each answer is first written without the constraint, in at most that many
    tokens, as the draft of the constrained one. `draft` is such a draft, a likely answer. `budget_field` is the
    field of the request that states `sampling.max_tokens`, for errors.
    """

    id: str
    prompts: tuple[tuple[int, ...], ...]
    sampling: SamplingParams
    n: int = 1
    constraint: Constraint | None = None
    limits: OutputLimits | None = None
    check: Callable[[str], None] | None = None
    is_cut_off: Callable[[str], bool] | None = None
    keep_stop: bool = False
    salt: str = ""
    priority: int = 0
    deadline_s: float | None = None
    whole: bool = False
    reasoning: ReasoningSpec | None = None
    adapter: AdapterRef | None = None
    images: tuple[PromptImage, ...] = ()
    free_tokens: int | None = None
    draft: tuple[int, ...] = ()
    budget_field: str = "max_tokens"

    @property
    def choices(self) -> int:
        """The number of choices of all prompts."""
        return len(self.prompts) * self.n

    @property
    def prompt_tokens(self) -> int:
        """The tokens of all prompts, each counted once."""
        return sum(map(len, self.prompts))

    def request(self, choice: int) -> Request:
        """The engine's request for a choice. Stop strings stay here, because the engine does not know texts."""
        prompt, number = divmod(choice, self.n)
        seed = self.sampling.seed
        sampling = replace(
            self.sampling, stop=(), seed=None if seed is None else derived_seed(seed, number)
        )
        return Request(
            id=f"{self.id}-{choice}",
            prompt=self.prompts[prompt],
            sampling=sampling,
            images=self.images,
            constraint=self.constraint,
            limits=self.limits,
            priority=self.priority,
            deadline=self.deadline_s,
            cache_salt=self.salt,
            adapter=self.adapter,
            draft=self.draft,
        )

    def single(self, choice: int) -> "GenerationSpec":
        """A specification of one choice alone, with its seed."""
        request = self.request(choice)
        sampling = replace(self.sampling, seed=request.sampling.seed)
        return replace(self, id=request.id, prompts=(request.prompt,), n=1, sampling=sampling)


def derived_seed(seed: int, choice: int) -> int:
    """The seed of a choice: `seed` itself for the first one. Different seeds stay different for every choice."""
    word = (seed + choice * _GOLDEN) % _WORD
    return word - _WORD if word >= _WORD // 2 else word
