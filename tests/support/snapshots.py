"""Counters of an engine that never ran."""

from dataclasses import replace
from typing import Any

from intaglio.engine.metrics import Snapshot

_ZERO = Snapshot(
    steps=0,
    computed_tokens=0,
    prompt_tokens=0,
    output_tokens=0,
    forced_tokens=0,
    preemptions=0,
    most_sequences=0,
    finished={},
    seconds={},
    parked=0,
    waiting=0,
    running=0,
    blocks=16,
    free_blocks=16,
    last_step=None,
)


def snapshot(**counted: Any) -> Snapshot:
    """A snapshot with these counters; the others are 0."""
    return replace(_ZERO, **counted)
