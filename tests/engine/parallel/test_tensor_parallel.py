"""One model divided among ranks: the tokens of one process, for every family and every option of sampling.

Ranks are threads here; `tests/engine/ranks` has processes.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError, InternalError
from intaglio.engine.model.layers import GatedMlp
from intaglio.engine.model.row_parallel import RowParallelWeight
from intaglio.engine.model.sharded_weights import refuse_indivisible
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.parallel.parallel_layout import Parallel, ParallelLayout, TensorParallel
from intaglio.engine.plan import Masks, Plan
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import empty_rows
from intaglio.kernels.contracts import RmsNorm

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import OURS, prompts
from tests.support.threaded_ranks import ThreadedCommunicator, on_ranks
from tests.support.tiny_checkpoint import LLAMA
from tests.support.tiny_families import CONFIGS, DIVISIBLE
from tests.support.tiny_mxfp4 import CODED_GPT_OSS, write_coded_gpt_oss

LENGTHS = (2, 40, 90)
OUTPUTS = 6
OPTIONS = {
    "greedy": SamplingParams(temperature=0),
    "drawn": SamplingParams(temperature=1.3, seed=11),
    "penalised": SamplingParams(
        temperature=0.9, seed=5, repetition_penalty=1.5, presence_penalty=0.4
    ),
    "biased": SamplingParams(temperature=0, logit_bias={7: 4.0, 200: 5.0}),
    "truncated": SamplingParams(temperature=1.1, seed=3, top_p=0.7, top_k=20),
    "reported": SamplingParams(temperature=0.8, seed=9, logprobs=5, masked_share=True),
}


def built(folder: Path, parallel: TensorParallel | None = None, **model: object) -> ModelRunner:
    settings = replace(ModelConfig(model=str(folder), device="cpu", dtype="float32"), **model)  # type: ignore[arg-type]
    return build_runner(
        settings,
        CacheConfig(num_blocks=200),
        SchedulerConfig(max_running=8, max_batched_tokens=128),
        parallel=None if parallel is None else Parallel(parallel),
    ).runner


def jobs(options: SamplingParams = OPTIONS["greedy"]) -> list[Job]:
    return [Job(prompt, OUTPUTS, options) for prompt in prompts(LENGTHS)]


def driven(engine: ModelRunner, asked: list[Job], **schedule: float) -> list[Job]:
    return Driver(engine, chunk=33, masks=_masks, **schedule).run(asked)  # type: ignore[arg-type]


def _masks(by_id: object, plan: Plan) -> Masks:
    """The first sequence gets odd tokens only."""
    rows = empty_rows(1, 300)
    rows.fill(0x2AAAAAAA)
    row_of = {0: 0} if any(work.seq_id == 0 and work.logits for work in plan.works) else {}
    return Masks(rows, row_of)


@pytest.mark.parametrize("name", DIVISIBLE)
def test_two_ranks_sample_the_tokens_of_one_process(
    name: str, folder: Callable[[str], Path]
) -> None:
    compare_two_ranks(folder(name))


def test_experts_in_mxfp4_are_divided_by_whole_groups(tmp_path: Path) -> None:
    coded, _ = write_coded_gpt_oss(tmp_path / "coded", tmp_path / "plain", intermediate_size=128)
    compare_two_ranks(coded)


def compare_two_ranks(path: Path) -> None:
    whole = driven(built(path), jobs())
    ranks = on_ranks(2, lambda parallel: driven(built(path, parallel), jobs()))
    for rank in ranks:
        assert [job.generated for job in rank] == [job.generated for job in whole]
    for one, *parts in zip(whole, *ranks, strict=True):
        logits = torch.cat([torch.stack(job.logits) for job in parts], 1)
        torch.testing.assert_close(
            logits[:, : one.logits[0].shape[0]], torch.stack(one.logits), atol=10 * OURS, rtol=0
        )


def test_a_layer_of_experts_exchanges_once_however_many_a_token_uses(
    folder: Callable[[str], Path],
) -> None:
    def exchanges(name: str) -> list[int]:
        path = folder(name)

        def count(parallel: TensorParallel) -> int:
            engine, communicator = built(path, parallel), parallel.communicator
            assert isinstance(communicator, ThreadedCommunicator)
            before = communicator.calls
            driven(engine, jobs())
            return communicator.calls - before

        return on_ranks(2, count)

    few, all_eight = exchanges("qwen3-moe"), exchanges("qwen3-moe-all")
    assert few == all_eight
    assert few[0] == few[1] > 0


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("size", [2, 4])
def test_every_option_of_sampling_gives_the_same_tokens(
    size: int, options: str, folder: Callable[[str], Path]
) -> None:
    """Four ranks share two key heads: each is kept by two of them."""
    path, asked = folder("llama"), OPTIONS[options]
    whole = driven(built(path), jobs(asked), preempt=0.1, join=0.7)
    ranks = on_ranks(
        size,
        lambda parallel: driven(built(path, parallel), jobs(asked), preempt=0.1, join=0.7),
    )
    for rank in ranks:
        for job, one in zip(rank, whole, strict=True):
            assert job.generated == one.generated
            for sample, expected in zip(job.samples, one.samples, strict=True):
                assert sample.failure is expected.failure is None
                for found, right in zip(sample.logprobs, expected.logprobs, strict=True):
                    assert found.token == right.token
                    assert found.logprob == pytest.approx(right.logprob, abs=1e-4)
                    assert found.masked == pytest.approx(right.masked, abs=1e-4)
                    assert [t for t, _ in found.top] == [t for t, _ in right.top]


@pytest.mark.parametrize(
    ("config", "tp", "reason"),
    [
        (LLAMA, 3, "4 query heads"),
        ({**LLAMA, "num_attention_heads": 12, "num_key_value_heads": 3, "head_dim": 8}, 2, "3 key"),
        ({**LLAMA, "intermediate_size": 161}, 2, "161 hidden units"),
        ({**LLAMA, "vocab_size": 60}, 4, "60 tokens are too few for 4 ranks"),
        (CONFIGS["olmo2"], 2, "norm all heads together"),
        (CONFIGS["deepseek-v2"], 2, "run on one device only"),
        ({**CODED_GPT_OSS, "intermediate_size": 96}, 2, "3 groups of hidden units of an expert"),
    ],
)
def test_a_model_that_cannot_be_divided_is_refused_with_the_figures(
    config: dict[str, object], tp: int, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        refuse_indivisible(parse_spec(config), tp)
    assert refused.value.where == "tp"
    assert refused.value.hint


def test_parts_of_a_vocabulary_are_whole_words_and_cover_it() -> None:
    for vocab in (300, 8192, 32000, 151936):
        for tp in (2, 3, 4, 8):
            parts = [ParallelLayout(tp, rank).tokens(vocab) for rank in range(tp)]
            assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
            assert (parts[0].start, parts[-1].stop) == (0, vocab)
            assert all(part.start % 32 == 0 for part in parts if part.start < vocab)
            longest = ParallelLayout(tp, 0).most_tokens(vocab)
            assert longest == max(part.stop - part.start for part in parts)


def test_a_part_of_a_row_is_never_normed(folder: Callable[[str], Path]) -> None:
    path = folder("llama")  # both ranks would write it at once

    def norm(parallel: TensorParallel) -> None:
        down = built(path, parallel).decoder.layers[0].attention.output
        down.matmul(torch.ones(2, down.inputs), RmsNorm(torch.ones(down.inputs), 1e-6))

    with pytest.raises(InternalError, match="part of a row"):
        on_ranks(2, norm)


def test_a_deterministic_engine_has_the_same_bits_in_any_company_on_every_rank(
    folder: Callable[[str], Path],
) -> None:
    path, asked = folder("llama"), OPTIONS["drawn"]

    def rows(own: TensorParallel) -> list[torch.Tensor]:
        engine = built(path, own, deterministic=True)
        alone = [Driver(engine).run([job])[0] for job in jobs(asked)]
        together = Driver(engine, chunk=33, preempt=0.1, join=0.7).run(jobs(asked))
        for one, other in zip(alone, together, strict=True):
            assert torch.equal(torch.stack(one.logits), torch.stack(other.logits))
        return [torch.stack(job.logits) for job in together]

    on_ranks(2, rows)


def test_one_process_has_nothing_to_exchange(folder: Callable[[str], Path]) -> None:
    """No layer and no sampler knows of ranks, so the path of one device is the one it was."""
    decoder = built(folder("llama")).decoder
    assert decoder.shard is None
    for layer in decoder.layers:
        assert isinstance(layer.mlp, GatedMlp)
        for weight in (layer.attention.output, layer.mlp.down):
            assert not isinstance(weight, RowParallelWeight)


def test_int8_weights_are_rounded_after_they_are_divided(folder: Callable[[str], Path]) -> None:
    """The parts of a row have scales of their own: close to one process, and equal on all ranks."""
    path = folder("llama")
    whole = driven(built(path, quantization="int8"), jobs())
    ranks = on_ranks(2, lambda own: driven(built(path, own, quantization="int8"), jobs()))
    assert [job.generated for job in ranks[0]] == [job.generated for job in ranks[1]]
    for one, *parts in zip(whole, *ranks, strict=True):
        logits = torch.cat([job.logits[0] for job in parts])
        assert (logits - one.logits[0]).abs().mean() < 0.02 * one.logits[0].std()
