"""Accepted drafts on the device: against a plain loop, and in a captured graph."""

import pytest
import torch
from intaglio.kernels.dispatch import choose
from intaglio.kernels.sampling_contracts import Sampled

from tests.support.drafts import accepted, answers, random_drafts

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize(("sequences", "longest"), [(1, 3), (9, 70), (512, 9)])
def test_equals_a_plain_loop(sequences: int, longest: int, dtype: torch.dtype) -> None:
    kernels = choose(torch.device("cuda"))
    for seed in range(20):
        case = random_drafts(seed, sequences, longest, dtype)
        there = case.to("cuda")
        assert answers(kernels.verify(there.drawn, there.given, there.starts)) == accepted(case)


def test_a_captured_graph_serves_any_drafts() -> None:
    """Of up to 40 sequences and 300 rows; the others are nobody's."""
    kernels = choose(torch.device("cuda"))
    tokens, status = torch.zeros((2, 300), dtype=torch.int64, device="cuda")
    given = torch.zeros(300, dtype=torch.int32, device="cuda")
    starts = torch.zeros(41, dtype=torch.int32, device="cuda")
    kernels.verify(Sampled(tokens, status), given, starts)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        got = kernels.verify(Sampled(tokens, status), given, starts)
    for seed in range(5):
        case = random_drafts(seed, 40, 7, torch.int32)
        rows = len(case.given)
        tokens[:rows].copy_(case.drawn.tokens)
        status[:rows].copy_(case.drawn.status)
        given[:rows].copy_(case.given)
        starts.copy_(case.starts)
        graph.replay()
        assert answers(got) == accepted(case)
