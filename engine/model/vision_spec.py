"""The vision half of a model, read from its files: the encoder's sizes, and how images become patches.

Does: read `vision_config` of `config.json` and `preprocessor_config.json`, and refuse what the encoder does not
compute, by its key. Does not: open weights or images, or import torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, Final

from ..errors import ModelError
from ..types import ImageFormat
from .checkpoint_json import read_object
from .config_values import MOST_PARTS, ConfigValues
from .family import EncoderKind

_CLIP_MEAN: Final = (0.48145466, 0.4578275, 0.40821073)
_CLIP_STD: Final = (0.26862954, 0.26130258, 0.27577711)
_LEAST_PIXELS: Final = 56 * 56
_MOST_PIXELS: Final = 28 * 28 * 1280
_MOST_EDGE: Final = 1 << 12
PREPROCESSOR: Final = "preprocessor_config.json"

AXIAL: Final = {"rope_type": "axial", "rope_theta": 10000.0}
"""The rotation of patches, by row and column, as newer files state it."""

# What a file omits, by kind.
_DEFAULTS: Mapping[EncoderKind, Mapping[str, Any]] = {
    "windowed": {
        "hidden_act": "silu",
        "hidden_size": 3584,
        "depth": 32,
        "intermediate_size": 3420,
        "patch_size": 14,
        "window_size": 112,
        "fullatt_block_indexes": [7, 15, 23, 31],
    },
    "deepstack": {
        "hidden_act": "gelu_pytorch_tanh",
        "hidden_size": 1152,
        "depth": 27,
        "intermediate_size": 4304,
        "patch_size": 16,
        "num_position_embeddings": 2304,
        "deepstack_visual_indexes": [8, 16, 24],
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionSpec:
    """An encoder of images: their patches attend to each other in windows, in some layers all to all.

    A patch has `patch` pixels on a side and is repeated `frames` times; `merge` times `merge` patches become one cell,
    the states of one token. `window` is in pixels, None for none; the layers `full` have none either. `hidden`,
    `heads`, `layers` and `ffn` are the encoder's; `output` is the width of the language half. `token` is the id that
    stands for each cell. There are embeddings of `grid` times `grid` positions, 0 for none. A cell has
    a state from the output of each layer in `deep`, and one from the last layer.
    """

    kind: EncoderKind
    token: int
    hidden: int
    heads: int
    layers: int
    ffn: int
    output: int
    patch: int
    frames: int
    merge: int
    window: int | None
    full: frozenset[int]
    grid: int
    deep: tuple[int, ...]

    @property
    def factor(self) -> int:
        """Pixels on a side of a cell."""
        return self.patch * self.merge

    @property
    def cells(self) -> int | None:
        """Cells on a side of a window; None for an encoder without."""
        return None if self.window is None else self.window // self.factor

    @property
    def values(self) -> int:
        """Numbers that the encoder reads of a patch."""
        return 3 * self.frames * self.patch * self.patch


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelSpec:
    """The size and the scale of the images that an encoder was trained with.

    An image has between `least` and `most` pixels; `mean` and `std` are those of red, green and blue.
    """

    least: int = _LEAST_PIXELS
    most: int = _MOST_PIXELS
    mean: tuple[float, float, float] = _CLIP_MEAN
    std: tuple[float, float, float] = _CLIP_STD


_HALF: Final = (0.5, 0.5, 0.5)
PUBLISHED: Final[Mapping[EncoderKind, PixelSpec]] = {
    "windowed": PixelSpec(),
    "deepstack": PixelSpec(least=1 << 16, most=1 << 24, mean=_HALF, std=_HALF),
}
"""Sizes and scales as published with models, for checkpoints without the processor's file."""


def read_vision(kind: EncoderKind, raw: Mapping[str, Any], width: int, layers: int) -> VisionSpec:
    """The encoder of this kind of a parsed `config.json`, for a language half of this width and number of layers.

    Raises:
        ModelError: the encoder is not computed here, or does not fit the language half.
    """
    given = raw.get("vision_config")
    if not isinstance(given, dict):
        raise ModelError(f"vision_config must be an object, not {given!r}", where="vision_config")
    stated = {key: value for key, value in given.items() if value is not None}
    given = {**_DEFAULTS[kind], **stated}
    config = ConfigValues(given)
    activation = _DEFAULTS[kind]["hidden_act"]
    _require(given, "hidden_act", (activation,), activation)
    _require(given, "in_chans" if "in_chans" in given else "in_channels", (3,), 3)
    _require(given, "rope_parameters", (None, AXIAL), None)
    deepens = kind == "deepstack"
    spec = VisionSpec(
        kind=kind,
        token=ConfigValues(raw).count("image_token_id", 151655),
        hidden=config.count("hidden_size"),
        heads=config.count("num_heads", 16),
        layers=config.count("depth", most=MOST_PARTS),
        ffn=config.count("intermediate_size"),
        output=config.count("out_hidden_size", 3584),
        patch=config.count("patch_size", most=256),
        frames=config.count("temporal_patch_size", 2, 16),
        merge=config.count("spatial_merge_size", 2, 16),
        window=None if deepens else config.count("window_size", most=_MOST_EDGE),
        full=frozenset(() if deepens else _layers(given, "fullatt_block_indexes")),
        grid=_grid(config) if deepens else 0,
        deep=_layers(given, "deepstack_visual_indexes") if deepens else (),
    )
    _check(spec, width, layers)
    return spec


def _check(spec: VisionSpec, width: int, layers: int) -> None:
    """Refuse sizes that do not fit each other or the language half, see `read_vision`."""
    if spec.output != width:
        raise ModelError(
            f"the encoder makes states of {spec.output} numbers, the model reads {width}",
            where="vision_config/out_hidden_size",
        )
    if spec.hidden % spec.heads or spec.hidden // spec.heads % 4:
        raise ModelError(
            f"{spec.heads} heads of {spec.hidden} numbers cannot be rotated by row and column",
            where="vision_config/num_heads",
        )
    if spec.window is not None and spec.window % spec.factor:
        raise ModelError(
            f"a window of {spec.window} pixels is not a multiple of cells of {spec.factor}",
            where="vision_config/window_size",
        )
    deep = spec.deep
    if list(deep) != sorted(set(deep)) or any(i >= spec.layers for i in deep):
        raise ModelError(
            f"layers {list(deep)} are no ascending choice of {spec.layers}",
            where="vision_config/deepstack_visual_indexes",
        )
    if len(deep) >= layers:
        raise ModelError(
            f"states of {len(deep)} layers need a model of more layers than {layers}",
            where="vision_config/deepstack_visual_indexes",
        )


def _require(
    given: Mapping[str, Any], key: str, allowed: tuple[object, ...], default: object
) -> None:
    value = given.get(key, default)
    if value not in allowed:
        raise ModelError(f"{key} {value!r} is not supported", where=f"vision_config/{key}")


def _layers(given: Mapping[str, Any], key: str) -> tuple[int, ...]:
    """A list of layers, by their numbers."""
    listed = given[key]
    if not isinstance(listed, list) or any(type(i) is not int or i < 0 for i in listed):
        raise ModelError(f"{key} must be a list of layers", where=f"vision_config/{key}")
    return tuple(listed)


def _grid(config: ConfigValues) -> int:
    """The positions on a side of the square of those with an embedding."""
    key = "num_position_embeddings"
    count = config.count(key)
    if isqrt(count) ** 2 != count:
        raise ModelError(f"{count} positions are no square", where=f"vision_config/{key}")
    return isqrt(count)


def read_pixels(folder: Path, spec: VisionSpec) -> PixelSpec:
    """Sizes and scale of the images of a checkpoint. A folder without the file has the published ones.

    Raises:
        ModelError: the file asks for something else than resizing, rescaling and normalising, or for other patches.
    """
    path = folder / PREPROCESSOR
    if not path.is_file():
        return PUBLISHED[spec.kind]
    given = read_object(path)
    for key, fits in (
        ("patch_size", spec.patch),
        ("temporal_patch_size", spec.frames),
        ("merge_size", spec.merge),
    ):
        if given.get(key) not in (None, fits):
            raise ModelError(
                f"{key} {given[key]!r} is not the {fits} of the encoder",
                where=f"{PREPROCESSOR}/{key}",
            )
    for key in ("do_resize", "do_rescale", "do_normalize", "do_convert_rgb"):
        if given.get(key) not in (None, True):
            raise ModelError(
                f"{key} {given[key]!r} is not supported", where=f"{PREPROCESSOR}/{key}"
            )
    for key, only in (("resample", 3), ("rescale_factor", 1 / 255)):
        if given.get(key) not in (None, only):
            raise ModelError(
                f"{key} {given[key]!r} is not supported", where=f"{PREPROCESSOR}/{key}"
            )
    size = given.get("size")
    size = size if isinstance(size, dict) else {}
    config = ConfigValues(
        {
            "min_pixels": given.get("min_pixels") or size.get("shortest_edge"),
            "max_pixels": given.get("max_pixels") or size.get("longest_edge"),
        }
    )
    least = config.count("min_pixels", _LEAST_PIXELS, 1 << 30)
    most = config.count("max_pixels", _MOST_PIXELS, 1 << 30)
    if least > most:
        raise ModelError(f"min_pixels {least} is more than max_pixels {most}", where=PREPROCESSOR)
    mean, std = (_three(given, key) for key in ("image_mean", "image_std"))
    return PixelSpec(least=least, most=most, mean=mean or _CLIP_MEAN, std=std or _CLIP_STD)


def image_format(folder: Path, spec: VisionSpec | None) -> ImageFormat | None:
    """How the model in `folder` reads images; None if it reads none. Raises as `read_pixels`."""
    if spec is None:
        return None
    pixels = read_pixels(folder, spec)
    return ImageFormat(token=spec.token, factor=spec.factor, least=pixels.least, most=pixels.most)


def _three(given: Mapping[str, Any], key: str) -> tuple[float, float, float] | None:
    """Three numbers above zero."""
    found = given.get(key)
    if found is None:
        return None
    numbers = found if isinstance(found, list) else []
    right = [float(each) for each in numbers if type(each) in (int, float) and 0 < each < 256]
    if len(right) != 3 or len(numbers) != 3:
        raise ModelError(f"{key} must be three positive numbers", where=f"{PREPROCESSOR}/{key}")
    return right[0], right[1], right[2]
