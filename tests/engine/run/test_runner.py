"""The runner on hand-made plans: sampling options, masks, failures, blocks and refusals."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.engine.build_runner import Built, build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError, InternalError
from intaglio.engine.plan import Admitted, Masks, Plan, SampledToken, Work
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.run.slots import SlotState
from intaglio.engine.types import SamplingParams
from intaglio.grammar.api import allow, empty_rows
from intaglio.kernels.contracts import Epilogue, Logits, RmsNorm, Weight
from intaglio.kernels.sample.reference_logits import allowed

from tests.engine.run.driver import Driver, Job, no_masks, null_is_clean
from tests.support.tiny_checkpoint import QWEN3, random_weights, write_checkpoint

PROMPT = tuple(range(40, 60))
NAN_TOKEN = 299
BLOCKS = CacheConfig(num_blocks=200)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in which one token's embedding is not a number."""
    weights = random_weights({**QWEN3, "tie_word_embeddings": False})
    weights["model.embed_tokens.weight"][NAN_TOKEN] = math.nan
    config = {**QWEN3, "tie_word_embeddings": False}
    return write_checkpoint(tmp_path_factory.mktemp("model"), config, weights=weights)


def build(folder: Path, cache: CacheConfig = BLOCKS, *, vocab: int | None = None) -> Built:
    return build_runner(
        ModelConfig(model=str(folder), threads=1),
        cache,
        SchedulerConfig(max_running=12, max_batched_tokens=256),
        vocab=vocab,
    )


@pytest.fixture(scope="module")
def runner(folder: Path) -> ModelRunner:
    return build(folder).runner


def run(
    runner: ModelRunner, *jobs: Job, preempt: float = 0.0, chunk: int = 10**6, join: float = 1.0
) -> list[Job]:
    return Driver(runner, preempt=preempt, chunk=chunk, join=join).run(list(jobs))


def test_seeded_draws_do_not_depend_on_company_or_preemption(runner: ModelRunner) -> None:
    def job(seed: int) -> Job:
        return Job(PROMPT, 12, SamplingParams(temperature=1.5, seed=seed, top_p=0.95))

    alone = [run(runner, job(seed))[0].generated for seed in range(6)]
    assert len(set(map(tuple, alone))) == 6
    together = run(runner, *(job(seed) for seed in range(6)), preempt=0.1, chunk=7, join=0.5)
    assert [j.generated for j in together] == alone


def test_draws_without_a_seed_differ(runner: ModelRunner) -> None:
    jobs = run(runner, *(Job(PROMPT, 10, SamplingParams(temperature=2.0)) for _ in range(4)))
    assert len({tuple(job.generated) for job in jobs}) == 4


def test_options_apply_to_their_own_request_only(runner: ModelRunner) -> None:
    def jobs() -> list[Job]:
        return [
            Job(PROMPT, 6),
            Job(PROMPT, 6, SamplingParams(temperature=0, logit_bias={7: 1000.0})),
            Job(PROMPT, 6, SamplingParams(temperature=1, top_k=1, seed=1)),
            Job(PROMPT, 6, SamplingParams(temperature=0, frequency_penalty=1000.0)),
        ]

    plain, biased, top1, penalised = run(runner, *jobs())
    assert biased.generated == [7] * 6
    assert top1.generated == plain.generated
    assert len(set(penalised.generated)) == 6
    assert [run(runner, job)[0].generated for job in jobs()] == [
        job.generated for job in (plain, biased, top1, penalised)
    ]


def test_penalties_count_what_they_say(runner: ModelRunner) -> None:
    """Greedy tokens of a penalised request, recomputed from its own logits in plain python."""
    sampling = SamplingParams(
        temperature=0, repetition_penalty=1.7, presence_penalty=2.0, frequency_penalty=1.5
    )
    (job,) = run(runner, Job(PROMPT, 10, sampling), preempt=0.2)
    for step, logits in enumerate(job.logits):
        scores = logits.double().tolist()
        output = Counter(job.generated[:step])
        for token in {*PROMPT, *output}:
            scores[token] = scores[token] / 1.7 if scores[token] > 0 else scores[token] * 1.7
        for token, count in output.items():
            scores[token] -= 1.5 * count + 2.0
        assert job.generated[step] == int(np.argmax(scores))


def test_masks_and_logprobs(runner: ModelRunner) -> None:
    legal = {0: [5, 9, 298], 2: [11]}

    def masks(by_id: Mapping[int, Job], plan: Plan) -> Masks:
        wanting = [w.seq_id for w in plan.works if w.logits and w.seq_id in legal][::-1]
        rows = empty_rows(len(wanting), 300)
        for row, seq_id in zip(rows, wanting, strict=True):
            allow(row, legal[seq_id])
        return Masks(rows, {seq_id: i for i, seq_id in enumerate(wanting)})

    sampling = SamplingParams(temperature=0, logprobs=4, masked_share=True)
    jobs = [Job(PROMPT, 5, sampling), Job(PROMPT, 5), Job(PROMPT[:3], 5, sampling)]
    Driver(runner, masks=masks, chunk=9).run(jobs)
    assert set(jobs[0].generated) <= set(legal[0])
    assert jobs[1].generated == run(runner, Job(PROMPT, 5))[0].generated
    assert jobs[2].generated == [11] * 5
    for logits, sample in zip(jobs[0].logits, jobs[0].samples, strict=True):
        belief = logits[legal[0]].double().log_softmax(0)
        (entry,) = sample.logprobs
        assert entry.logprob == pytest.approx(float(belief.max()), abs=1e-5)
        assert {token for token, _ in entry.top} == set(legal[0])
        assert sum(math.exp(p) for _, p in entry.top) == pytest.approx(1, abs=1e-5)
        removed = 1 - float(logits.double().softmax(0)[legal[0]].sum())
        assert entry.masked == pytest.approx(removed, abs=1e-5)
    assert jobs[2].samples[0].logprobs[0].top == ((11, 0.0),)
    assert jobs[1].samples[0].logprobs == ()


SEVERAL = [
    SamplingParams(temperature=0),
    SamplingParams(temperature=1.3, seed=4, top_p=0.9, logprobs=2),
    SamplingParams(temperature=0, frequency_penalty=5.0, repetition_penalty=1.4),
]


@pytest.mark.parametrize("sampling", SEVERAL, ids=["greedy", "drawn", "penalised"])
@pytest.mark.parametrize("masked", [False, True], ids=["free", "masked"])
def test_three_rows_of_one_sequence_are_the_rows_of_three_steps(
    folder: Path, sampling: SamplingParams, masked: bool
) -> None:
    """Its last three tokens are drafts: those that single steps sampled."""
    runner = build(folder).runner

    def masks(step: int, rows: int) -> Masks:
        """Of sequence 1 after `step` outputs; sequence 2 is free."""
        if not masked:
            return no_masks()
        given = empty_rows(rows, 300)
        for i, row in enumerate(given):
            allow(row, [token for token in range(290) if token % 7 == (step + i) % 7])
        return Masks(given, {1: 0})

    def step(plan: Plan, given: Masks) -> dict[int, SampledToken]:
        handle = runner.forward(plan)
        runner.sample(handle, given)
        return {sample.seq_id: sample for sample in runner.sampled(handle).samples}

    def admitted(seq_id: int, first_block: int) -> Admitted:
        blocks = tuple(range(first_block, first_block + 3))
        return Admitted(seq_id, PROMPT, len(PROMPT), blocks, sampling)

    at = len(PROMPT)
    prompts = tuple(Work(seq_id, 0, PROMPT, logits=1) for seq_id in (1, 2))
    first = step(Plan(1, (admitted(1, 1), admitted(2, 5)), prompts), masks(0, 1))
    tokens, singles, others = [first[1].tokens[0]], [], [first[2].tokens[0]]
    for i in range(3):
        works = Work(1, at + i, (tokens[-1],), logits=1), Work(2, at + i, (others[-1],), logits=1)
        samples = step(Plan(2 + i, works=works), masks(1 + i, 1))
        singles.append(samples[1])
        tokens += samples[1].tokens
        others += samples[2].tokens

    again = step(Plan(5, (admitted(1, 9), admitted(2, 13)), prompts, (1, 2)), masks(0, 1))
    assert again[1].tokens == first[1].tokens
    works = (
        Work(1, at, tuple(tokens[:3]), logits=3),
        Work(2, at, (others[0],), logits=1),
    )
    together = step(Plan(6, works=works), masks(1, 3))
    assert together[1].tokens == tuple(tokens[1:])
    assert len(together[1].logprobs) == (3 if sampling.logprobs else 0)
    for found, single in zip(together[1].logprobs, singles, strict=False):
        assert found.logprob == pytest.approx(single.logprobs[0].logprob, abs=1e-4)
    assert together[2].tokens == (others[1],)
    assert len(set(tokens)) > 1
    for seq_id in (1, 2):
        runner._rows.forget(seq_id)
    runner.check()


def test_more_rows_of_logits_than_a_step_has_room_for_are_refused(folder: Path) -> None:
    runner = build(folder).runner
    new = Admitted(1, PROMPT, len(PROMPT), (1, 2), SamplingParams())
    with pytest.raises(InternalError, match="13 rows of logits"):
        runner.forward(Plan(1, (new,), (Work(1, 0, PROMPT, logits=13),)))
    with pytest.raises(InternalError, match="too many logits"):
        runner.forward(Plan(2, works=(Work(1, 0, PROMPT[:2], logits=3),)))


class Sparing:
    """A head that makes no logits but those that are legal for a row."""

    def __init__(self, head: Weight) -> None:
        self._head = head
        self.inputs, self.outputs = head.inputs, head.outputs
        self.left_out: list[int] = []  # a number a call

    def matmul(
        self, x: torch.Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> torch.Tensor:
        logits = self._head.matmul(x, norm, epilogue)
        legal = epilogue.legal if isinstance(epilogue, Logits) else None
        if legal is None:
            return logits
        nowhere = ~allowed(legal.masks, legal.rows, logits.shape[1]).any(0)
        self.left_out.append(int(nowhere.sum()))
        return logits.masked_fill(nowhere, math.nan)


@pytest.mark.parametrize("count", [1, 3])
def test_logits_that_nobody_may_pick_need_not_be_made(folder: Path, count: int) -> None:
    """A lone row, which the host gives company, and several, with all that can be asked for."""
    sampling = [
        SamplingParams(temperature=0, logprobs=3),
        SamplingParams(temperature=1.2, top_p=0.9, seed=5, logit_bias={7: 3.0, 8: 2.0}),
        SamplingParams(temperature=1, seed=6, frequency_penalty=0.7, logprobs=20),
    ]

    def masks(by_id: Mapping[int, Job], plan: Plan) -> Masks:
        wanting = [w.seq_id for w in plan.works if w.logits]
        rows = empty_rows(len(wanting), 300)
        for row, seq_id in zip(rows, wanting, strict=True):
            allow(row, [at % 298 for at in range(plan.step, 600, 11 + seq_id)])
        return Masks(rows, {seq_id: i for i, seq_id in enumerate(wanting)})

    found = []
    for spare in (False, True):
        one = build(folder).runner
        assert one.decoder.head is not None
        sparing = Sparing(one.decoder.head)
        if spare:
            one._compute._decoder = replace(one.decoder, head=sparing)  # type: ignore[attr-defined]
        jobs = [Job(PROMPT[i:], 9, wishes) for i, wishes in enumerate(sampling[:count])]
        Driver(one, masks=masks).run(jobs)
        assert (sum(sparing.left_out) > 1000) == spare
        found.append([(job.generated, [sample.logprobs for sample in job.samples]) for job in jobs])
    assert found[0] == found[1]


def test_a_row_that_allows_nothing_fails_alone(runner: ModelRunner) -> None:
    def masks(by_id: Mapping[int, Job], plan: Plan) -> Masks:
        return Masks(empty_rows(1, 300), {0: 0})

    jobs = [Job(PROMPT, 3), Job(PROMPT, 3)]
    Driver(runner, masks=masks).run(jobs)
    assert jobs[0].samples[0].failure is not None
    assert jobs[0].samples[0].failure.code == "internal_error"
    assert jobs[0].generated == []
    assert jobs[1].generated == run(runner, Job(PROMPT, 3))[0].generated


@pytest.mark.parametrize("sampling", [SamplingParams(temperature=0), SamplingParams(seed=1)])
def test_a_poisoned_sequence_fails_alone_and_leaves_nothing_behind(
    folder: Path, sampling: SamplingParams
) -> None:
    """Blocks that held a NaN are used again at once, by sequences that fill them in part."""
    runner = build(folder, CacheConfig(num_blocks=70)).runner
    expected = [run(runner, Job(PROMPT[:n], 5))[0].generated for n in (1, 7, 20)]
    for _ in range(4):
        bad = Job((*PROMPT, NAN_TOKEN, *PROMPT * 5), 5, sampling)
        good = [Job(PROMPT[:n], 5) for n in (1, 7, 20)]
        run(runner, good[0], bad, *good[1:], chunk=16)
        assert bad.samples[-1].failure is not None
        assert bad.samples[-1].failure.code == "numerical_error"
        assert [job.generated for job in good] == expected
    assert null_is_clean(runner.cache)


def test_tokens_past_the_tokenizer_are_never_picked(folder: Path) -> None:
    runner = build(folder, vocab=50).runner
    jobs = run(
        runner,
        *(Job(PROMPT, 20, SamplingParams(temperature=5.0, seed=s)) for s in range(5)),
        Job(PROMPT, 20),
    )
    assert all(token < 50 for job in jobs for token in job.generated)


def test_a_plan_that_makes_no_sense_is_refused(runner: ModelRunner) -> None:
    work = Work(5, 0, (1, 2), logits=1)
    admitted = Admitted(5, (1, 2), 2, (1,), SamplingParams())
    with pytest.raises(InternalError, match="not admitted"):
        runner.forward(Plan(1, (), (work,)))
    with pytest.raises(InternalError, match="not here"):
        runner.forward(Plan(1, (), (), (5,)))
    runner.forward(Plan(1, (admitted,), (work,)))
    with pytest.raises(InternalError, match="twice"):
        runner.forward(Plan(2, (admitted,), (work,)))
    with pytest.raises(InternalError, match="block table"):
        runner.forward(Plan(4, (), (Work(5, 2, (3,), new_blocks=(2,) * 64),)))
    with pytest.raises(InternalError, match="buffers"):
        runner.forward(Plan(5, (), (Work(5, 2, (3,) * 257),)))
    runner.forward(
        Plan(6, (Admitted(6, (1,), 1, (9,), SamplingParams()),), (Work(6, 0, (1,)),), (5,))
    )
    handle = runner.forward(Plan(7, (), (Work(6, 1, (1,)),)))
    runner.sample(handle, no_masks())
    assert runner.sampled(handle).samples == ()
    runner.forward(Plan(8, (admitted,), (work,), (6,)))
    runner.forward(
        Plan(9, (Admitted(6, (1,), 1, (9,), SamplingParams()),), (Work(6, 0, (1,)),), (5,))
    )
    runner._rows.forget(6)
    runner.check()


def test_rows_are_bounded_and_reused() -> None:
    rows = SlotState(2, 64, 16)
    for seq_id in (7, 8):
        rows.admit(Admitted(seq_id, (1, 2), 2, (seq_id,), SamplingParams()))
    with pytest.raises(InternalError, match="more than 2"):
        rows.admit(Admitted(9, (1,), 1, (3,), SamplingParams()))
    rows.forget(7)
    rows.admit(Admitted(9, (1,), 1, (3,), SamplingParams()))
    assert rows.tables[rows.row_of[9]].tolist() == [3, 0, 0, 0]
    rows.check()


@pytest.mark.parametrize(
    ("cache", "blocks"),
    [
        (CacheConfig(num_blocks=100), 100),
        (CacheConfig(num_blocks=10**6), 1 + 12 * 64),
        (CacheConfig(cache_bytes=2**21), 2**21 // (2 * 2 * 16 * 2 * 32 * 4)),
        (CacheConfig(), 1 + 12 * 64),
    ],
)
def test_blocks_follow_the_settings(folder: Path, cache: CacheConfig, blocks: int) -> None:
    built = build(folder, cache)
    assert built.num_blocks == built.runner.cache.num_blocks == blocks
    assert built.cache_bytes == blocks * built.spec.kv_block_bytes(16, 4)


@pytest.mark.parametrize("cache", [CacheConfig(num_blocks=64), CacheConfig(cache_bytes=1000)])
def test_a_cache_too_small_for_one_sequence_is_refused(folder: Path, cache: CacheConfig) -> None:
    with pytest.raises(ConfigError, match="1024 tokens"):
        build(folder, cache)


def test_keys_and_values_of_one_byte_are_refused_on_a_host(folder: Path) -> None:
    with pytest.raises(ConfigError, match="need a GPU") as refused:
        build_runner(
            ModelConfig(model=str(folder), device="cpu"),
            CacheConfig(kv_dtype="fp8"),
            SchedulerConfig(),
        )
    assert refused.value.where == "kv_dtype"


def test_a_context_beyond_the_model_is_refused(folder: Path) -> None:
    model = ModelConfig(model=str(folder), max_context=2048)
    with pytest.raises(ConfigError, match="1024 positions"):
        build_runner(model, CacheConfig(num_blocks=200), SchedulerConfig())


def test_nothing_of_autograd_is_kept(runner: ModelRunner) -> None:
    (job,) = run(runner, Job(PROMPT, 2))
    assert not job.logits[0].requires_grad
    assert isinstance(job.logits[0], torch.Tensor)


UNFIT: list[dict[str, Any]] = [
    {"top_k": 2**63},
    {"seed": "word"},
    {"temperature": 10**400},
    {"logit_bias": {2**70: 1.0}},
    {"logit_bias": {3: 10**400}},
    {"presence_penalty": 10**400},
    {"logprobs": 2**70},
    {"min_p": None},
]


@pytest.mark.parametrize("unfit", UNFIT, ids=lambda unfit: next(iter(unfit)))
def test_options_that_fit_no_array_end_their_own_sequence(
    runner: ModelRunner, unfit: dict[str, Any]
) -> None:
    """As if a judge before the runner had let them through."""

    def good() -> list[Job]:
        return [Job(PROMPT, 6), Job(PROMPT, 6, SamplingParams(temperature=0, logit_bias={7: 9.0}))]

    alone = [job.generated for job in run(runner, *good())]
    bad = Job(PROMPT, 6, SamplingParams(**({"temperature": 1.0} | unfit)))
    first, second, last = run(runner, *good()[:1], bad, *good()[1:], chunk=7)
    assert [first.generated, last.generated] == alone
    assert second.generated == []
    failure = second.samples[-1].failure
    assert failure is not None
    assert failure.code == "internal_error"
    runner.check()
    assert run(runner, *good())[0].generated == alone[0]


def test_a_temperature_that_float32_cannot_divide_by_is_greedy(runner: ModelRunner) -> None:
    (cold,) = run(runner, Job(PROMPT, 8, SamplingParams(temperature=1e-40, seed=3)))
    (greedy,) = run(runner, Job(PROMPT, 8, SamplingParams(temperature=0)))
    assert cold.generated == greedy.generated


def test_a_draft_with_an_unusable_row_ends_the_tokens_and_not_the_request(folder: Path) -> None:
    """Only a sequence's first row without a legal token fails it."""
    runner = build(folder).runner
    admitted = Admitted(1, PROMPT, len(PROMPT), tuple(range(1, 4)), SamplingParams(temperature=0))
    rows = empty_rows(4, 300)
    for row, token in enumerate((11, 12, None, 14)):
        if token is not None:
            allow(rows[row], token)

    def sample(number: int, work: Work, masks: Masks) -> SampledToken:
        handle = runner.forward(Plan(number, (admitted,) * (number == 1), (work,)))
        runner.sample(handle, masks)
        (found,) = runner.sampled(handle).samples
        return found

    drafted = sample(1, Work(1, 0, (*PROMPT, 11, 12, 13), logits=4), Masks(rows, {1: 0}))
    assert drafted == SampledToken(1, (11, 12))
    behind = Work(1, len(PROMPT) + 1, (12, 13), logits=2)
    failed = sample(2, behind, Masks(rows[2:], {1: 0}))
    assert failed.tokens == ()
    assert failed.failure is not None
    assert failed.failure.code == "internal_error"
