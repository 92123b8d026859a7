"""Sequences and grammars for sources of drafts, outside an engine."""

from intaglio.engine.sequence import Sequence
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import Constraint, MaskRow, allow


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


class FixedTokens:
    """A grammar with these legal tokens, which is not followed; with none it fails."""

    def __init__(self, tokens: tuple[int, ...]) -> None:
        self._tokens = tokens

    def fill(self, row: MaskRow) -> bool:
        row.fill(0)
        allow(row, list(self._tokens))
        return bool(self._tokens)

    def advance(self, token: int) -> tuple[int, ...] | None:
        raise AssertionError("a source asks for the legal tokens and does not follow its own guess")
