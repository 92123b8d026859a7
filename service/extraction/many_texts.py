"""The extractions of one request from several texts with one schema.

Does: derive the extraction of each text from that of the request, and add up token counts. Does not: run extractions.
"""

from collections.abc import Iterable
from dataclasses import replace

from intaglio.schemas.extraction.requests import Message
from intaglio.schemas.extraction.results import Usage

from .extract import ParsedExtraction


def each_text(parsed: ParsedExtraction) -> tuple[ParsedExtraction, ...]:
    """One extraction for each of the texts, in their order. Constraint and examples are shared."""
    texts = parsed.body.texts or ()
    return tuple(
        replace(
            parsed,
            body=parsed.body.model_copy(update={"text": text, "texts": None}),
            parts=replace(
                parsed.parts,
                messages=(Message(role="user", content=text),),
                part=f"texts.{number}",
            ),
        )
        for number, text in enumerate(texts)
    )


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of token counts. `budget_forced` is set if any answer was forced."""
    found = tuple(usages)
    prompt, output = sum(u.prompt_tokens for u in found), sum(u.output_tokens for u in found)
    return Usage(
        prompt_tokens=prompt,
        output_tokens=output,
        total_tokens=prompt + output,
        forced_tokens=sum(u.forced_tokens for u in found),
        budget_forced=any(u.budget_forced for u in found),
        draft_tokens=sum(u.draft_tokens for u in found),
        accepted_tokens=sum(u.accepted_tokens for u in found),
    )
