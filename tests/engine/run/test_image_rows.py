"""Models that read images, against `transformers`: encoder, positions, logits and tokens in any schedule."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.engine.model.vision_encoder import patches
from intaglio.engine.model.vision_spec import PixelSpec
from intaglio.engine.run.image_rows import TokenTurns
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.types import PromptImage
from PIL import Image

from tests.engine.run.driver import Driver, Job, null_is_clean
from tests.engine.run.parity import OURS, THEIRS, runner
from tests.support.tiny_vision import FACTOR, PAD, prompt_with_images, write_vision_checkpoint

OUTPUTS = 6
SHAPES: tuple[tuple[int | tuple[int, int], ...], ...] = (
    (5, (3, 5), 7),
    ((6, 9), 3, (1, 1), 20, (4, 4), 2),
    (90,),
)
"""Prompts: one image, several with more than one window, text only."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_vision_checkpoint(tmp_path_factory.mktemp("vision") / "qwen2.5-vl")


@pytest.fixture(scope="module")
def engine(folder: Path) -> ModelRunner:
    return runner(folder)


def _theirs(folder: Path, dtype: torch.dtype = torch.float32) -> Any:
    """The model as `transformers` has it."""
    import transformers  # here: it takes seconds, and each process of the test run imports this file

    transformers.utils.logging.disable_progress_bar()
    return transformers.Qwen2_5_VLForConditionalGeneration.from_pretrained(
        folder, dtype=dtype, attn_implementation="eager"
    )


def _inputs(tokens: tuple[int, ...], images: tuple[PromptImage, ...]) -> dict[str, torch.Tensor]:
    """The arguments of `transformers`, with patches made by its processor."""
    ids = torch.tensor([tokens])
    found = {"input_ids": ids, "mm_token_type_ids": (ids == PAD).int()}
    if images:
        from transformers.models.qwen2_vl import image_processing_pil_qwen2_vl as processing

        processor = processing.Qwen2VLImageProcessorPil(min_pixels=1, max_pixels=1 << 30)
        made = processor([_picture(image) for image in images], return_tensors="pt")
        found |= {"pixel_values": made["pixel_values"], "image_grid_thw": made["image_grid_thw"]}
    return found


def _picture(image: PromptImage) -> Image.Image:
    shape = image.rows * FACTOR, image.columns * FACTOR, 3
    return Image.fromarray(np.frombuffer(image.pixels, np.uint8).reshape(shape))


def _job(shape: tuple[int | tuple[int, int], ...], outputs: int = OUTPUTS) -> Job:
    tokens, images = prompt_with_images(shape)
    return Job(tokens, outputs, images=images)


def test_patches_equal_those_of_the_published_processor(engine: ModelRunner) -> None:
    spec = engine.decoder.spec.vision
    assert spec is not None
    for shape in SHAPES[:2]:
        tokens, images = prompt_with_images(shape)
        theirs = _inputs(tokens, images)["pixel_values"]
        ours = np.concatenate([patches(image, spec, PixelSpec()) for image in images])
        assert torch.equal(torch.from_numpy(ours.reshape(theirs.shape)), theirs)


def test_positions_equal_those_of_transformers(folder: Path) -> None:
    model = _theirs(folder)
    for shape in SHAPES[:2]:
        tokens, images = prompt_with_images(shape)
        given = _inputs(tokens, images)
        theirs, shift = model.model.get_rope_index(
            given["input_ids"], given["mm_token_type_ids"], given["image_grid_thw"]
        )
        turns = TokenTurns.of(images)
        assert turns.shift == int(shift)
        text = np.arange(images[-1].end, len(tokens)) + turns.shift
        whole = np.concatenate((turns.placed, np.broadcast_to(text, (3, text.size))), axis=1)
        assert whole.tolist() == theirs[:, 0].tolist()


def test_logits_equal_those_of_transformers_in_any_schedule(
    engine: ModelRunner, folder: Path
) -> None:
    """Alone against `transformers`; then together, in chunks that split images, and preempted."""
    model = _theirs(folder)
    alone = [Driver(engine).run([_job(shape)])[0] for shape in SHAPES]
    for job in alone:
        with torch.inference_mode():
            logits = model(**_inputs(tuple(job.tokens), job.images)).logits[0]
        theirs = logits[len(job.prompt) - 1 : -1]
        torch.testing.assert_close(torch.stack(job.logits), theirs, atol=THEIRS, rtol=0)
        assert job.generated == theirs.argmax(-1).tolist()
    mixed = Driver(engine, chunk=7, preempt=0.05, join=0.7).run([_job(shape) for shape in SHAPES])
    for job, reference in zip(mixed, alone, strict=True):
        assert job.generated == reference.generated
        torch.testing.assert_close(
            torch.stack(job.logits), torch.stack(reference.logits), atol=OURS, rtol=0
        )
    assert null_is_clean(engine.cache)


def test_bfloat16_agrees_with_float32_as_far_as_it_can(engine: ModelRunner, folder: Path) -> None:
    narrow = runner(folder, "bfloat16")
    wide, rounded = (
        Driver(each).run([_job(SHAPES[0], 1)])[0].logits[0] for each in (engine, narrow)
    )
    assert (wide - rounded).abs().mean() < 0.03 * (wide.max() - wide.min())


def test_another_image_changes_the_answer(engine: ModelRunner) -> None:
    tokens, images = prompt_with_images(SHAPES[0])
    _, others = prompt_with_images(SHAPES[0], seed=2)
    found = [
        Driver(engine).run([Job(tokens, 1, images=given)])[0].logits[0]
        for given in (images, others)
    ]
    assert (found[0] - found[1]).abs().max() > 0.1
