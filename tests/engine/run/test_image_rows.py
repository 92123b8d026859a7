"""Models that read images, against `transformers`: encoder, positions, logits and tokens in any schedule."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.model.vision_encoder import patches
from intaglio.engine.model.vision_spec import image_format, read_pixels
from intaglio.engine.run.image_rows import RopePositions
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import PromptImage, Request, SamplingParams
from intaglio.grammar.api import empty_rows
from PIL import Image

from tests.engine.run.driver import Driver, Job, null_is_clean
from tests.engine.run.parity import OURS, THEIRS, runner
from tests.support.scripted import ScriptedCompiler
from tests.support.tiny_vision import (
    CONFIGS,
    END,
    FACTORS,
    PAD,
    prompt_with_images,
    write_vision_checkpoint,
)

OUTPUTS = 6
SHAPES: tuple[tuple[int | tuple[int, int], ...], ...] = (
    (5, (3, 5), 7),
    ((6, 9), 3, (1, 1), 20, (4, 4), 2),
    (90,),
)
"""Prompts: one image, several with more than one window, text only."""


@pytest.fixture(scope="module", params=CONFIGS)
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    name = request.param
    return write_vision_checkpoint(tmp_path_factory.mktemp("vision") / name, CONFIGS[name])


@pytest.fixture(scope="module")
def factor(folder: Path) -> int:
    return FACTORS[CONFIGS[folder.name]["architectures"][0]]


@pytest.fixture(scope="module")
def engine(folder: Path) -> ModelRunner:
    return runner(folder)


def _theirs(folder: Path, dtype: torch.dtype = torch.float32) -> Any:
    """The model as `transformers` has it."""
    import transformers  # here: it takes seconds, and each process of the test run imports this file

    transformers.utils.logging.disable_progress_bar()
    architecture = getattr(transformers, CONFIGS[folder.name]["architectures"][0])
    return architecture.from_pretrained(folder, dtype=dtype, attn_implementation="eager")


def _inputs(
    folder: Path, tokens: tuple[int, ...], images: tuple[PromptImage, ...]
) -> dict[str, torch.Tensor]:
    """The arguments of `transformers`, with patches made by its processor."""
    ids = torch.tensor([tokens])
    found = {"input_ids": ids, "mm_token_type_ids": (ids == PAD).int()}
    if images:
        from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as processing

        whole = {"shortest_edge": 1, "longest_edge": 1 << 30}
        processor = processing.Qwen2VLImageProcessorPil.from_pretrained(folder)
        pictures = [_picture(image) for image in images]
        made = processor(pictures, size=whole, return_tensors="pt")
        found |= {"pixel_values": made["pixel_values"], "image_grid_thw": made["image_grid_thw"]}
    return found


def _picture(image: PromptImage) -> Image.Image:
    factor = round((len(image.pixels) / (3 * image.tokens)) ** 0.5)
    shape = image.rows * factor, image.columns * factor, 3
    return Image.fromarray(np.frombuffer(image.pixels, np.uint8).reshape(shape))


def _job(shape: tuple[int | tuple[int, int], ...], factor: int, outputs: int = OUTPUTS) -> Job:
    tokens, images = prompt_with_images(shape, factor=factor)
    return Job(tokens, outputs, images=images)


def test_patches_equal_those_of_the_published_processor(
    engine: ModelRunner, folder: Path, factor: int
) -> None:
    spec = engine.decoder.spec.vision
    assert spec is not None
    pixels = read_pixels(folder, spec)
    for shape in SHAPES[:2]:
        tokens, images = prompt_with_images(shape, factor=factor)
        theirs = _inputs(folder, tokens, images)["pixel_values"]
        ours = np.concatenate([patches(image, spec, pixels) for image in images])
        assert torch.equal(torch.from_numpy(ours.reshape(theirs.shape)), theirs)


def test_positions_equal_those_of_transformers(folder: Path, factor: int) -> None:
    model = _theirs(folder)
    for shape in SHAPES[:2]:
        tokens, images = prompt_with_images(shape, factor=factor)
        given = _inputs(folder, tokens, images)
        theirs, shift = model.model.get_rope_index(
            given["input_ids"], given["mm_token_type_ids"], given["image_grid_thw"]
        )
        rope = RopePositions.of(images)
        assert rope.shift == int(shift)
        text = np.arange(images[-1].end, len(tokens)) + rope.shift
        whole = np.concatenate((rope.placed, np.broadcast_to(text, (3, text.size))), axis=1)
        assert whole.tolist() == theirs[:, 0].tolist()


def test_logits_equal_those_of_transformers_in_any_schedule(
    engine: ModelRunner, folder: Path, factor: int
) -> None:
    """Alone against `transformers`; then together, in chunks that split images, and preempted."""
    model = _theirs(folder)
    alone = [Driver(engine).run([_job(shape, factor)])[0] for shape in SHAPES]
    for job in alone:
        with torch.inference_mode():
            logits = model(**_inputs(folder, tuple(job.tokens), job.images)).logits[0]
        theirs = logits[len(job.prompt) - 1 : -1]
        torch.testing.assert_close(torch.stack(job.logits), theirs, atol=THEIRS, rtol=0)
        assert job.generated == theirs.argmax(-1).tolist()
    again = [_job(shape, factor) for shape in SHAPES]
    mixed = Driver(engine, chunk=7, preempt=0.05, join=0.7).run(again)
    for job, reference in zip(mixed, alone, strict=True):
        assert job.generated == reference.generated
        torch.testing.assert_close(
            torch.stack(job.logits), torch.stack(reference.logits), atol=OURS, rtol=0
        )
    assert null_is_clean(engine.cache)


def test_bfloat16_is_as_near_to_float32_as_that_of_transformers(
    engine: ModelRunner, folder: Path, factor: int
) -> None:
    narrow, model = runner(folder, "bfloat16"), _theirs(folder, torch.bfloat16)
    for shape in SHAPES:
        wide, rounded = (
            Driver(each).run([_job(shape, factor, 1)])[0].logits[0] for each in (engine, narrow)
        )
        job = _job(shape, factor)
        with torch.inference_mode():
            theirs = model(**_inputs(folder, job.prompt, job.images)).logits[0, -1].float()
        assert (wide - rounded).abs().mean() < 0.015 * (wide.max() - wide.min())
        assert (wide - rounded).abs().mean() < 2 * (wide - theirs).abs().mean()


def test_a_cached_prefix_that_ends_within_an_image_changes_nothing(
    engine: ModelRunner, folder: Path, factor: int
) -> None:
    """The second request computes its image from the middle of a row on, in chunks."""
    settings = SchedulerConfig(max_running=4, max_batched_tokens=16)
    model = runner(folder)
    form = image_format(folder, model.decoder.spec.vision)
    scheduler = Scheduler(
        settings,
        KVManager(BlockPool(model.cache.num_blocks), 16, PrefixCache(16)),
        RequestLimits(512, 300, frozenset({257}), form),
        lambda: 0.0,
    )
    rows = empty_rows(16, 300)
    constraints = Constraints(ScriptedCompiler(), end_tokens=frozenset({257}), rows=rows)
    whole = Engine(scheduler, constraints, model)
    tokens, images = prompt_with_images((5, (6, 9)), factor=factor)
    assert tokens[-1] == END
    sampling = SamplingParams(max_tokens=OUTPUTS, temperature=0, ignore_eos=True)
    for i, end in enumerate(((1, 2, 3), (4, 5, 6, 7))):
        prompt = tokens + end
        whole.submit(Request(id=str(i), prompt=prompt, sampling=sampling, images=images))
        found = [token for delta in whole.run_until_idle() for token in delta.tokens]
        (lone,) = Driver(engine).run([Job(prompt, OUTPUTS, sampling, images)])
        assert found == lone.generated
    cached = whole.metrics().cached_tokens
    assert images[0].start < cached < images[0].end
    assert (cached - images[0].start) % images[0].columns


def test_another_image_changes_the_answer(engine: ModelRunner, factor: int) -> None:
    tokens, images = prompt_with_images(SHAPES[0], factor=factor)
    _, others = prompt_with_images(SHAPES[0], seed=2, factor=factor)
    found = [
        Driver(engine).run([Job(tokens, 1, images=given)])[0].logits[0]
        for given in (images, others)
    ]
    assert (found[0] - found[1]).abs().max() > 0.1
