"""The layers that share a block table."""

import pytest
from intaglio.engine.model.layer_groups import MOST_GROUPS, LayerGroups, layer_groups

# Full layers, layers with a window, and what is expected: layers in a block, full groups, groups with a window.
SHAPES = [
    (10, 52, 10, 1, 6),  # Gemma 3 27B
    (8, 40, 8, 1, 5),  # Gemma 3 12B
    (5, 29, 5, 1, 6),  # Gemma 3 4B
    (4, 22, 4, 1, 6),  # Gemma 3 1B
    (13, 13, 13, 1, 1),  # Gemma 2 2B
    (18, 18, 18, 1, 1),  # gpt-oss 120B
    (16, 48, 16, 1, 3),  # OLMo 3 32B
    (21, 7, 7, 3, 1),
]


@pytest.mark.parametrize(("full", "sliding", "depth", "of_full", "of_sliding"), SHAPES)
def test_groups_have_equal_places_and_waste_few(
    full: int, sliding: int, depth: int, of_full: int, of_sliding: int
) -> None:
    windows: list[int | None] = [None] * full + [512] * sliding
    windows.sort(key=lambda window: hash((window, 7)))
    groups = layer_groups(windows)
    assert groups.depth == depth
    assert groups.windows == (None,) * of_full + (512,) * of_sliding
    assert len(groups.windows) <= MOST_GROUPS
    places = list(zip(groups.group_of, groups.place_of, strict=True))
    assert len(set(places)) == len(windows)
    for window, (group, place) in zip(windows, places, strict=True):
        assert groups.windows[group] == window
        assert 0 <= place < depth


@pytest.mark.parametrize("window", [None, 512])
def test_layers_of_one_kind_are_one_group(window: int | None) -> None:
    assert layer_groups([window] * 5) == LayerGroups.single(5, window)


def test_several_windows_have_groups_of_their_own() -> None:
    groups = layer_groups([64, None, 512, 64, None, 512])
    assert groups.windows == (None, 64, 512)
    assert groups.group_of == (1, 0, 2, 1, 0, 2)
    assert groups.place_of == (0, 0, 0, 1, 1, 1)


def test_the_last_layers_alone_have_the_same_groups() -> None:
    groups = layer_groups([64, None, 64, None]).last(2)
    assert groups == LayerGroups((None, 64), (1, 0), (0, 1), 2)
