"""A cache as rows of words: each row has all bytes of its block, and neighbouring rows are found."""

from random import Random

import pytest
import torch
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.run.cuda.block_words import block_words, runs, sums
from intaglio.engine.run.kv import KVCache

from tests.support.tiny_checkpoint import QWEN3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_is_a_view_of_its_block(dtype: torch.dtype) -> None:
    cache = KVCache(parse_spec(QWEN3), 5, 4, dtype)
    cache.tensor.view(torch.uint8).random_(0, 256)
    words = block_words(cache)
    assert words.dtype == torch.int64
    for block in range(5):
        expected = cache.tensor[:, :, block].contiguous().view(torch.uint8).flatten()
        assert torch.equal(words[block].contiguous().view(torch.uint8).flatten(), expected)
    words[3].fill_(0)
    assert not cache.tensor[:, :, 3].any()


def test_sums_wrap_and_differ_by_one_bit() -> None:
    words = torch.full((2, 3, 4), 1 << 62)
    assert sums(words).tolist() == [-(1 << 64) + 12 * (1 << 62) - 2 * (1 << 64)] * 2
    words[1, 2, 3] ^= 1
    assert sums(words)[0] != sums(words)[1]


def test_runs_are_the_longest_parts_in_which_both_lists_count_up() -> None:
    assert list(runs([])) == []
    assert list(runs([3, 4, 5, 7, 6])) == [(0, 3), (3, 4), (4, 5)]
    assert list(runs([3, 4, 5, 6], [0, 1, 5, 6])) == [(0, 2), (2, 4)]
    dice = Random(3)
    for _ in range(200):
        rows = [dice.randrange(4) for _ in range(dice.randrange(12))]
        others = [dice.randrange(3) for _ in rows]
        found = list(runs(rows, others))
        assert [at for begin, end in found for at in range(begin, end)] == list(range(len(rows)))
        ends = {end for _, end in found}
        for at in range(1, len(rows)):
            both = rows[at] == rows[at - 1] + 1 and others[at] == others[at - 1] + 1
            assert (at not in ends) == both
