"""The draft of a constrained answer, from the text of a free one.

Does: cut the answer out of the text around it, bring JSON into the form that the constraint requires, and refuse drafts
where the engine does not follow them. Does not: decide anything about the answer, which is the same with any draft.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from intaglio.engine.api import EngineInfo
from intaglio.grammar.api import Constraint, Kind, Whitespace

from ..errors import InvalidBody

SOURCE: Final = "free"
"""The source of drafts that follows the draft of a request."""

FREE_TOKENS: Final = 1024
"""The budget of a free answer if the request sets none."""

Encode = Callable[[bytes], tuple[int, ...]]
"""The tokens of text in the middle of an output."""

# A string, which may be cut off; white space; or another character.
_PART: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?$)|\s+|.', re.DOTALL)
_FENCE: Final = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)


def require_followed(info: EngineInfo, where: str) -> None:
    """Return if the engine follows the drafts of requests; `where` is the field that asks for one.

    Raises:
        InvalidBody: it does not.
    """
    if SOURCE in info.draft_sources:
        return
    raise InvalidBody(
        "this engine follows no drafts, so a free answer would only take time",
        param=where,
        hint=f"leave {where} out, or start the engine on a CPU with drafts auto, or with {SOURCE} among them",
    )


def draft_tokens(text: str, constraint: Constraint, encode: Encode) -> tuple[int, ...]:
    """The draft of an answer under `constraint`, from the text of a free answer."""
    fenced = _FENCE.search(text)
    answer = (text if fenced is None else fenced[1]).strip()
    if constraint.kind is Kind.JSON_SCHEMA:
        answer = "".join(_written(answer, spaced=constraint.whitespace is Whitespace.SPACED))
    return encode(answer.encode(errors="ignore"))


def _written(text: str, *, spaced: bool) -> Iterator[str]:
    """The first object or array in `text`, or all of it if there is none, without white space outside strings.

    With `spaced`, a blank follows each comma and colon.
    """
    begins = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    depth = 0
    for part in _PART.finditer(text, min(begins, default=0)):
        found = part[0]
        if found.isspace():
            continue
        depth += (found in "{[") - (found in "}]")
        yield found
        if spaced and found in ",:":
            yield " "
        if begins and not depth:
            return
