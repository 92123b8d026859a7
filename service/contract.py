"""The contract of an answer: what of its schema is enforced, and what is only written there.

Does: put a verdict's findings on the wire, and refuse a schema with unknown keywords where the caller wants that. Does
not: look at schemas (`intaglio.grammar`).
"""

from functools import lru_cache

from ..grammar.api import Coverage, Refusal, UnsupportedConstraint
from ..schemas.contract import Contract, UnreadKeyword

_KEPT = 256  # contracts; at most some 64 kB each


@lru_cache(_KEPT)
def contract_of(coverage: Coverage | None) -> Contract:
    """A coverage as it goes over the wire; None is that of a constraint that is no schema."""
    if coverage is None:
        return Contract()
    told = {kind: _told(coverage, kind) for kind in ("annotation", "unknown")}
    return Contract(
        enforced=dict(coverage.enforced),
        annotations=dict(coverage.annotations),
        ignored=told["annotation"],
        unknown=told["unknown"],
        omitted=coverage.omitted,
    )


def demand_known(contract: Contract) -> None:
    """Return where every keyword of the schema is known.

    Raises:
        UnsupportedConstraint: some are not; `refusals` names each.
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
        f"{first.where}: {first.reason}, and strict_schema asks that all are known{more}", refusals
    )


def _told(coverage: Coverage, kind: str) -> tuple[UnreadKeyword, ...]:
    return tuple(
        UnreadKeyword(
            pointer=entry.where, keyword=entry.keyword, reason=entry.reason, hint=entry.hint
        )
        for entry in coverage.unread
        if entry.kind == kind
    )
