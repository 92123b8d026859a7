"""Token counts of a request while its choices arrive.

Does: add up the choices. Does not: count the tokens of a prompt more than once.
"""

from typing import Any

from ..generation.generation_events import ChoiceEnd, GenerationEvent


class UsageCount:
    """The `usage` of one request; `prompt_tokens` are those of all its prompts, `image_tokens` those of images."""

    def __init__(self, prompt_tokens: int, image_tokens: int = 0) -> None:
        self._prompt = prompt_tokens
        self._images = image_tokens
        self._cached = 0
        self._output: dict[int, int] = {}
        self._reasoning: dict[int, int] = {}
        self._drafts: dict[int, tuple[int, int]] = {}

    def add(self, event: GenerationEvent) -> None:
        """Take the count of a choice from its next event."""
        if isinstance(event, ChoiceEnd):
            self._output[event.choice] = event.output_tokens + event.draft_tokens
            if event.draft_tokens:
                self._drafts[event.choice] = event.draft_tokens, event.accepted_tokens
            self._cached = max(self._cached, event.cached_tokens)
            self._reasoning[event.choice] = event.reasoning_tokens
        else:
            self._output[event.choice] = event.count

    def wire(self) -> dict[str, Any]:
        """The counts so far, in the shape of `CompletionUsage`."""
        output = sum(self._output.values())
        counts: dict[str, Any] = {
            "prompt_tokens": self._prompt,
            "completion_tokens": output,
            "total_tokens": self._prompt + output,
            "prompt_tokens_details": {"cached_tokens": min(self._cached, self._prompt)},
        }
        if self._images:
            counts["prompt_tokens_details"]["image_tokens"] = self._images
        reasoning = sum(self._reasoning.values())
        if reasoning or self._drafts:
            counts["completion_tokens_details"] = {"reasoning_tokens": reasoning}
        if self._drafts:
            drafted, accepted = map(sum, zip(*self._drafts.values(), strict=True))
            counts["completion_tokens_details"] |= {
                "draft_tokens": drafted,
                "accepted_tokens": accepted,
            }
        return counts
