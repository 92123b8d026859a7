"""The contract of an answer: which keywords of its schema are enforced and which have no effect.

Does: convert the findings of a verdict to the wire type; refuse schemas with unknown keywords on request. Does not:
examine schemas (`intaglio.grammar`).
"""

from functools import lru_cache

from intaglio.grammar.api import Coverage, Refusal, UnsupportedConstraint
from intaglio.schemas.extraction.contract import Contract, UnreadKeyword

_MAX_CACHED = 256  # contracts of at most about 64 kB each


@lru_cache(_MAX_CACHED)
def contract_of(coverage: Coverage | None) -> Contract:
    """The wire form of a coverage; None, the coverage of a constraint that is not a JSON Schema, gives an empty
    contract.
    """
    if coverage is None:
        return Contract()
    unread = {kind: _unread_keywords(coverage, kind) for kind in ("annotation", "unknown")}
    return Contract(
        enforced=dict(coverage.enforced),
        annotations=dict(coverage.annotations),
        ignored=unread["annotation"],
        unknown=unread["unknown"],
        omitted=coverage.omitted,
    )


def require_known_keywords(contract: Contract) -> None:
    """Return if every keyword of the schema is known.

    Raises:
        UnsupportedConstraint: some are unknown; `refusals` lists them.
    """
    if not contract.unknown:
        return
    refusals = tuple(
        Refusal(entry.pointer, entry.keyword, entry.reason, entry.hint)
        for entry in contract.unknown
    )
    first = refusals[0]
    more = f", and {len(refusals) - 1} more" if len(refusals) > 1 else ""
    raise UnsupportedConstraint(
        f"{first.where}: {first.reason}, and strict_schema requires known keywords{more}", refusals
    )


def _unread_keywords(coverage: Coverage, kind: str) -> tuple[UnreadKeyword, ...]:
    return tuple(
        UnreadKeyword(
            pointer=entry.where, keyword=entry.keyword, reason=entry.reason, hint=entry.hint
        )
        for entry in coverage.unread
        if entry.kind == kind
    )
