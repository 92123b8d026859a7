"""Sequences for sources of drafts, outside an engine."""

from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import Constraint


def sequence(
    number: int,
    prompt: list[int],
    output: list[int] | None = None,
    constraint: Constraint | None = None,
    salt: str = "",
) -> Sequence:
    request = Request(
        id=f"r{number}",
        prompt=tuple(prompt),
        sampling=SamplingParams(),
        constraint=constraint,
        cache_salt=salt,
    )
    seq = Sequence(number, request, (0.0, number), 0.0)
    for token in output or []:
        seq.append(token)
    return seq
