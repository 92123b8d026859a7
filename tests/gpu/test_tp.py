"""One model on two GPUs: the tokens of one GPU, and no wait without an end when a rank dies."""

import pytest
import torch

from tests.gpu.divided_engines import Progress, compare_and_kill

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs"),
    # Said once where a capture begins within 0.1 s of an exchange; it is what is wanted.
    pytest.mark.filterwarnings("ignore:Waiting for pending NCCL work"),
]


def test_two_gpus_give_the_tokens_of_one_and_a_dead_rank_ends_all_requests() -> None:
    compare_and_kill(Progress(), tp=2)
