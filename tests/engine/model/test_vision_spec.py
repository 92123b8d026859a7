"""The vision half of `config.json` and the processor's file: what is not computed is refused by its key."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.errors import ModelError
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.vision_spec import PUBLISHED, VisionSpec, image_format, read_pixels

from tests.support.tiny_vision import PAD, QWEN3_VL, QWEN25_VL


def _vision(config: dict[str, Any]) -> VisionSpec:
    found = parse_spec(config).vision
    assert found is not None
    return found


def _changed(config: dict[str, Any], half: str, changes: dict[str, Any]) -> dict[str, Any]:
    return {**config, half: {**config[half], **changes}}


def test_both_forms_of_the_file_are_the_same_model() -> None:
    outer = (
        "architectures",
        "model_type",
        "vision_config",
        "image_token_id",
        "tie_word_embeddings",
    )
    nested: dict[str, Any] = {key: QWEN25_VL[key] for key in outer}
    nested["text_config"] = {key: value for key, value in QWEN25_VL.items() if key not in outer}
    assert parse_spec(nested) == parse_spec(QWEN25_VL)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"hidden_act": "gelu"}, "vision_config/hidden_act"),
        ({"in_chans": 4}, "vision_config/in_chans"),
        ({"out_hidden_size": 65}, "vision_config/out_hidden_size"),
        ({"num_heads": 3}, "vision_config/num_heads"),
        ({"window_size": 100}, "vision_config/window_size"),
        ({"fullatt_block_indexes": [-1]}, "vision_config/fullatt_block_indexes"),
        ({"depth": 0}, "depth"),
    ],
)
def test_an_encoder_that_is_not_computed_is_refused(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec(_changed(QWEN25_VL, "vision_config", changes))
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"hidden_act": "silu"}, "hidden_act"),
        ({"patch_size": [16, 16]}, "patch_size"),
        ({"rope_parameters": {"rope_type": "axial", "rope_theta": 5000.0}}, "rope_parameters"),
        ({"num_position_embeddings": 48}, "num_position_embeddings"),
        ({"deepstack_visual_indexes": [1, 0]}, "deepstack_visual_indexes"),
        ({"deepstack_visual_indexes": [0, 0]}, "deepstack_visual_indexes"),
        ({"deepstack_visual_indexes": [4]}, "deepstack_visual_indexes"),
        ({"deepstack_visual_indexes": [0, 1, 2, 3]}, "deepstack_visual_indexes"),
        ({"deepstack_visual_indexes": 3}, "deepstack_visual_indexes"),
    ],
)
def test_states_of_several_layers_that_do_not_fit_are_refused(
    changes: dict[str, Any], where: str
) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec(_changed(QWEN3_VL, "vision_config", changes))
    assert caught.value.where is not None
    assert caught.value.where.removeprefix("vision_config/") == where


def test_an_encoder_without_deep_layers_has_one_state_of_a_cell() -> None:
    assert len(_vision(QWEN3_VL).deep) == 3
    none = _changed(QWEN3_VL, "vision_config", {"deepstack_visual_indexes": []})
    assert _vision(none).deep == ()


@pytest.mark.parametrize("sections", [[2, 3], [2, 3, 4], [8, 0, 0], "2,3,3"])
def test_sections_must_be_the_pairs_of_a_head(sections: object) -> None:
    raw = {**QWEN25_VL, "rope_scaling": {"type": "mrope", "mrope_section": sections}}
    with pytest.raises(ModelError, match="three numbers of pairs"):
        parse_spec(raw)


def test_pairs_turn_by_the_axes_of_their_family() -> None:
    """In one piece for each axis, or every third pair by row and by column until they are used up."""
    assert parse_spec(QWEN25_VL).kinds[0].rope.axes == (0, 0, 1, 1, 1, 2, 2, 2)
    axes = (0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0)
    assert parse_spec(QWEN3_VL).kinds[0].rope.axes == axes


@pytest.mark.parametrize(
    ("rope", "where"),
    [
        ({"mrope_interleaved": False, "mrope_section": [6, 5, 5]}, "mrope_interleaved"),
        ({"mrope_section": [4, 6, 6]}, "mrope_section"),
        ({}, "mrope_section"),
    ],
)
def test_axes_that_cannot_take_turns_are_refused(rope: dict[str, Any], where: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec(_changed(QWEN3_VL, "text_config", {"rope_scaling": rope}))
    assert caught.value.where == f"rope_scaling/{where}"
    if where == "mrope_interleaved":
        raw = {**QWEN25_VL["rope_scaling"], "mrope_interleaved": True}
        with pytest.raises(ModelError, match="mrope_interleaved"):
            parse_spec({**QWEN25_VL, "rope_scaling": raw})


def test_a_model_has_its_vision_half() -> None:
    raw = {key: value for key, value in QWEN25_VL.items() if key != "vision_config"}
    with pytest.raises(ModelError, match="vision_config"):
        parse_spec(raw)


def _written(folder: Path, given: dict[str, Any]) -> Path:
    (folder / "preprocessor_config.json").write_text(json.dumps(given))
    return folder


def test_sizes_are_read_in_both_forms(tmp_path: Path) -> None:
    assert read_pixels(tmp_path, _vision(QWEN25_VL)) == PUBLISHED["windowed"]
    assert read_pixels(tmp_path, _vision(QWEN3_VL)) == PUBLISHED["deepstack"]
    spec = _vision(QWEN25_VL)
    for given in (
        {"min_pixels": 3136, "max_pixels": 100352},
        {"size": {"shortest_edge": 3136, "longest_edge": 100352}},
    ):
        form = image_format(_written(tmp_path, given), spec)
        assert form is not None
        assert (form.token, form.factor, form.least, form.most) == (PAD, 28, 3136, 100352)


@pytest.mark.parametrize(
    "given",
    [
        {"do_resize": False},
        {"resample": 2},
        {"rescale_factor": 1 / 127.5},
        {"image_mean": [0.5, 0.5]},
        {"image_std": [0, 1, 1]},
        {"min_pixels": 10, "max_pixels": 5},
        {"patch_size": 16},
        {"temporal_patch_size": 1},
        {"merge_size": 4},
    ],
)
def test_another_processor_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        read_pixels(_written(tmp_path, given), _vision(QWEN25_VL))
