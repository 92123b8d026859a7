"""Drafts on a GPU: the tokens of an engine without them, and steps that are saved."""

import pytest
import torch

from tests.gpu.divided_engines import Progress, engine, requests
from tests.gpu.test_engine import agreement, run

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]


def test_drafts_change_no_token_and_save_steps() -> None:
    """In float32, so that the number of tokens in a step tips few scales."""
    say, asked = Progress(), requests()
    with engine(say, drafts="off") as plain:
        expected = run(plain, asked)
        steps = plain.metrics().steps
    with engine(say, drafts="document,rows,likely") as drafted:
        for turn in ("cold", "with prompts from the cache"):
            found = run(drafted, asked)
            differing = [name for name in expected if found[name] != expected[name]]
            say(f"{turn}: {differing} differ")
            assert agreement(found, expected) >= 0.95, f"more than a near tie differs: {differing}"
        counts = drafted.metrics()
    say(f"{steps} steps without drafts, {counts.steps} for two turns with drafts: {counts.drafts}")
    assert sum(counts.drafts.accepted.values()) > 100
    assert counts.steps < 2 * steps
