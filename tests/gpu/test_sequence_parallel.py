"""One model on two GPUs that divide long steps by tokens: the tokens of one GPU, and no wait without an end."""

from collections.abc import Sequence

import pytest
import torch
from intaglio.engine.parallel.nccl_communicator import NcclCommunicator
from torch import Tensor

from tests.gpu.divided_engines import Progress, compare_and_kill

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
    # Said once where a capture begins within 0.1 s of an exchange; it is what is wanted.
    pytest.mark.filterwarnings("ignore:Waiting for pending NCCL work"),
]

LEAST = 64
"""Tokens from which a step is divided: of the requests' chunks of up to 256 tokens, some are and some are not."""


def test_two_gpus_that_divide_tokens_give_those_of_one_and_a_dead_rank_ends_all_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows: list[int] = []
    exchange = NcclCommunicator.all_to_all

    def counted(self: NcclCommunicator, parts: Sequence[Tensor]) -> Tensor:
        rows.append(parts[0].shape[0])
        return exchange(self, parts)

    monkeypatch.setattr(NcclCommunicator, "all_to_all", counted)
    say = Progress()
    compare_and_kill(say, tp=2, sp=True, sp_tokens=LEAST)
    say(f"tokens of this rank in the exchanges of steps: {sorted(set(rows))}")
    assert len(set(rows)) > 1, "steps of one size only were divided"
    assert min(rows) >= LEAST // 2
