"""The computation of a GPU with stand-ins for the device: the tokens of the CPU, of a whole model and of stages.

Kernels are those of the CPU, streams do everything at once, and a captured pass is run again instead of replayed. So
this shows what is computed, from which memory, and what stages exchange; not that anything is captured, or faster.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.build_runner import Laps, _gpu, build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.layer_groups import decoder_groups, grouped_decoder
from intaglio.engine.model.spec import read_spec
from intaglio.engine.model.weights import begin_decoder
from intaglio.engine.parallel.parallel_layout import Parallel, TensorParallel
from intaglio.engine.run.cuda import compute_gpu
from intaglio.engine.run.cuda.sampling_graphs import SamplingGraphs
from intaglio.engine.run.runner import ModelRunner, RunnerLimits
from intaglio.engine.run.runner_parts import RunnerParts
from intaglio.engine.types import SamplingParams
from intaglio.kernels.contracts import AttentionPass, Ragged
from intaglio.kernels.reference_kernels import ReferenceKernels

from tests.engine.parallel.test_pipeline_parallel import in_stages
from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import prompts
from tests.support.threaded_ranks import ThreadedCommunicator, on_ranks
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_families import CONFIGS

HOST = torch.device("cpu")
RUNNING, TOKENS, CONTEXT = 6, 96, 128
CACHE = CacheConfig(num_blocks=120)
PLAIN = SamplingParams(temperature=1.1, seed=3)  # sampled by graph
SPECIAL = SamplingParams(temperature=1.1, seed=4, top_p=0.9, repetition_penalty=1.2)


class Mark:
    """A stream or an event: everything was done when it is asked."""

    device = HOST

    def __init__(self, *_: object, **__: object) -> None: ...

    def record(self, _: object = None) -> None: ...

    def synchronize(self) -> None: ...

    def wait_event(self, _: object) -> None: ...


class RunAgain:
    """In place of `ForwardGraphs`: runs a pass again instead of replaying it."""

    def __init__(
        self, replays: list[int], forward: Callable[[int], object], sizes: tuple[int, ...]
    ) -> None:
        self._replays, self._forward, self._sizes = replays, forward, sizes
        self.most = sizes[-1]

    def padded(self, tokens: int) -> int:
        return next(size for size in self._sizes if size >= tokens)

    def replay(self, size: int) -> None:
        self._replays.append(size)
        self._forward(size)

    def seconds(self, _: int) -> float:
        return 1e-3

    def release(self) -> None: ...


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A device; the objects whose sampling was captured."""
    found: list[object] = []

    def pageable(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        return lambda *shape, pin_memory=False, **options: make(*shape, **options)

    def capture(graphs: SamplingGraphs) -> None:
        found.append(graphs)
        graphs.run_sizes()

    for name in ("zeros", "empty"):
        monkeypatch.setattr(torch, name, pageable(getattr(torch, name)))
    for name in ("Stream", "Event", "current_stream"):
        monkeypatch.setattr(torch.cuda, name, Mark)
    for name in ("set_stream", "synchronize", "empty_cache"):
        monkeypatch.setattr(torch.cuda, name, lambda *_: None)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (1 << 33, 1 << 33))
    monkeypatch.setattr(SamplingGraphs, "capture", capture)
    return found


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the passes that were replayed."""
    found: list[int] = []
    monkeypatch.setattr(compute_gpu, "ForwardGraphs", partial(RunAgain, found))
    return found


def on_host(folder: Path) -> ModelRunner:
    return build_runner(
        ModelConfig(model=str(folder), device="cpu", dtype="float32"),
        CACHE,
        SchedulerConfig(max_running=RUNNING, max_batched_tokens=TOKENS),
    ).runner


class PaddedKernels(ReferenceKernels):
    """The kernels of the CPU, for rows of padding without a context as well; they see the null block."""

    def attend(self, ragged: Ragged, *args: Any) -> AttentionPass:
        lengths = ragged.context_lengths.clamp(min=1) if ragged.packs is not None else None
        if lengths is not None:
            ragged = replace(ragged, context_lengths=lengths)
        return super().attend(ragged, *args)


def on_device(folder: Path, place: Parallel | None = None, *, grouped: bool = False) -> ModelRunner:
    """Built and warmed up as on a GPU."""
    spec = read_spec(folder)
    given: dict[str, Any] = {"kernels": PaddedKernels(), "dtype": torch.float32, "device": HOST}
    with torch.inference_mode():
        begun = begin_decoder(folder, spec, positions=CONTEXT, parallel=place, **given)
        decoder = begun.decoder
        limits = RunnerLimits(TOKENS, RUNNING, CONTEXT, spec.vocab_size)
        layout = None
        if grouped:
            layout = decoder_groups(decoder)
            decoder = grouped_decoder(decoder, layout)
        parts = RunnerParts(decoder, CACHE, limits, place, layout=layout)
        runner, _ = _gpu(parts, None, begun, Laps())
    return runner


def driven(runner: ModelRunner, groups: int = 1) -> list[Job]:
    """Prompts in chunks, some longer than a captured pass, and outputs, with preemptions."""
    jobs = [
        Job(prompt, 10, SPECIAL if number == 1 else PLAIN)
        for number, prompt in enumerate(prompts((2, 40, 90, 5, 17)))
    ]
    return Driver(runner, chunk=33, preempt=0.05, join=0.7, groups=groups).run(jobs)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "tiny", {**LLAMA, "num_hidden_layers": 4}, seed=0)


def test_a_whole_model_gives_the_tokens_of_the_cpu(
    captured: list[object], replays: list[int], folder: Path
) -> None:
    found = driven(on_device(folder))
    assert [job.generated for job in found] == [job.generated for job in driven(on_host(folder))]
    assert len(captured) == 1
    assert len(replays) > 6


@pytest.mark.parametrize("packed_from", [1, 10**6], ids=["packed", "cut"])
@pytest.mark.parametrize("name", ["gemma3", "gpt-oss", "olmo3", "phi3-window"])
def test_block_groups_give_the_tokens_of_the_cpu(
    captured: list[object],
    replays: list[int],
    tmp_path: Path,
    name: str,
    packed_from: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks behind the windows are taken out of the tables, and each group stores tokens in its own blocks."""
    monkeypatch.setattr(compute_gpu, "packed_from", lambda *_: packed_from)
    folder = write_checkpoint(tmp_path / "tiny", CONFIGS[name], seed=0)
    runner = on_device(folder, grouped=True)
    found = driven(runner, 1 + max(each.group for each in runner.decoder.variants))
    assert [job.generated for job in found] == [job.generated for job in driven(on_host(folder))]
    assert len(captured) == 1
    assert len(replays) > 6


@pytest.mark.parametrize("stages", [2, 3])
def test_stages_give_the_tokens_of_the_cpu_and_only_the_last_one_samples(
    captured: list[object], replays: list[int], folder: Path, stages: int
) -> None:
    """Prompts are longer than what the memory of a captured pass holds: a stage hands on all rows, kept nowhere."""
    (found,), runners = in_stages(folder, stages, build=on_device, drive=driven)
    assert [job.generated for job in found] == [job.generated for job in driven(on_host(folder))]
    assert [runner.decoder.samples for runner in runners] == [True] + [False] * (stages - 1)
    assert len(captured) == 1
    assert len(replays) > 6 * stages
    assert not any(replays.count(size) % stages for size in replays), "a pass of other sizes"


@pytest.mark.parametrize("name", ["llama", "gemma3"])
def test_ranks_that_divide_tokens_give_the_tokens_of_the_cpu(
    captured: list[object], replays: list[int], tmp_path: Path, name: str
) -> None:
    """Steps of a captured size divide matrices, and others tokens; with block groups, each with its own layers."""
    folder = write_checkpoint(tmp_path / "tiny", {"llama": LLAMA, **CONFIGS}[name], seed=0)
    grouped = name != "llama"

    def run(parallel: TensorParallel) -> tuple[list[Job], int]:
        place = Parallel(replace(parallel, divided_from=18))
        runner = on_device(folder, place, grouped=grouped)
        communicator = parallel.communicator
        assert isinstance(communicator, ThreadedCommunicator)
        before = communicator.crossings
        assert before, "the largest step was measured as it is not computed"
        done = driven(runner, 1 + max(each.group for each in runner.decoder.variants))
        return done, communicator.crossings - before

    expected = [job.generated for job in driven(on_host(folder))]
    for found, crossings in on_ranks(2, run):
        assert [job.generated for job in found] == expected
        assert crossings
    assert len(captured) == 2
    assert len(replays) > 12
