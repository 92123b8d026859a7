"""The kinds of attention in the layers of a model: their rotations and their sliding windows.

Does: read from `config.json` which layer is of which kind. Does not: compute attention.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from .config_values import ConfigValues
from .family import Family
from .rope_spec import UNROTATED, RopeReader, RopeSpec

SLIDING, FULL = "sliding_attention", "full_attention"


@dataclass(frozen=True, slots=True)
class AttentionKind:
    """The rotation of a layer, and the number of keys that a token sees, its own included; None: all before it."""

    rope: RopeSpec
    window: int | None


def read_kinds(
    family: Family, config: ConfigValues, layers: int, head_dim: int, positions: int
) -> tuple[AttentionKind, ...]:
    """The kind of each layer. A window of at least `positions` tokens does not count. Raises `ModelError`."""
    sliding = _sliding(family, config, layers)
    width = None
    if any(sliding):
        assert family.windows is not None
        width = config.count(family.windows.key)
    ropes = _ropes(family, config, head_dim, positions)
    rotated = _rotated(family, config, layers)
    kinds = []
    for slides, rotates in zip(sliding, rotated, strict=True):
        rope = ropes[SLIDING if slides else FULL] if rotates else RopeSpec(UNROTATED, 1.0, {})
        window = width if slides and width is not None and width < positions else None
        kinds.append(AttentionKind(rope, window))
    return tuple(kinds)


def _sliding(family: Family, config: ConfigValues, layers: int) -> list[bool]:
    """Whether each layer has a sliding window."""
    windows, values = family.windows, config.values
    types = config.per_layer("layer_types", layers, (SLIDING, FULL))
    on = windows is not None and values.get(windows.key) is not None
    if on and windows is not None and windows.switch is not None:
        on = config.flag(windows.switch, default=False)
    if not on or windows is None:
        if SLIDING in (types or ()):
            raise ModelError(
                "layers with a sliding window are not supported here, or their width is missing",
                where="layer_types",
            )
        return [False] * layers
    if types is not None and not windows.by_layer and FULL in types:
        raise ModelError(
            f"all layers of a {family.name} model have the window that {windows.key} gives",
            where="layer_types",
        )
    if types is not None:
        return [each == SLIDING for each in types]
    if windows.unrotated_only:
        return [not turns for turns in _rotated(family, config, layers)]
    if windows.first is not None:
        first = config.whole(windows.first, 0)
        return [i >= first for i in range(layers)]
    pattern = windows.pattern
    if windows.pattern_key is not None:
        pattern = config.count(windows.pattern_key, pattern)
    return [pattern is None or (i + 1) % pattern != 0 for i in range(layers)]


def _rotated(family: Family, config: ConfigValues, layers: int) -> list[bool]:
    """Whether each layer rotates its queries and keys."""
    if not family.unrotated_layers:
        return [True] * layers
    listed = config.per_layer("no_rope_layers", layers, (0, 1))
    if listed is not None:
        return [each == 1 for each in listed]
    every = config.count("no_rope_layer_interval", 4)
    return [(i + 1) % every != 0 for i in range(layers)]


def _ropes(
    family: Family, config: ConfigValues, head_dim: int, positions: int
) -> Mapping[str, RopeSpec]:
    """The rotations of sliding and of full layers, from `rope_parameters` or `rope_theta` and `rope_scaling`."""
    raw = config.values
    newer = raw.get("rope_parameters")
    where = "rope_parameters" if newer is not None else "rope_scaling"
    given = newer if newer is not None else raw.get("rope_scaling") or {}
    if not isinstance(given, dict):
        raise ModelError(f"{where} must be an object, not {given!r}", where=where)
    theta, local = raw.get("rope_theta"), family.local_theta

    def read(given: Mapping[str, Any], where: str, theta: object) -> RopeSpec:
        reader = RopeReader(config, given, where, head_dim, positions)
        rope = reader.read(theta, family)
        if family.vision is not None and not rope.axes:
            raise ModelError("mrope_section is missing", where=f"{where}/mrope_section")
        return rope

    if given and given.keys() <= {SLIDING, FULL}:
        parts = {}
        for kind, default in ((SLIDING, raw.get(local) if local else theta), (FULL, theta)):
            at, part = f"{where}/{kind}", given.get(kind) or {}
            if not isinstance(part, dict):
                raise ModelError(f"{at} must be an object, not {part!r}", where=at)
            parts[kind] = read(part, at, default)
        return parts
    full = read(given, where, theta)
    if local is None:
        return {SLIDING: full, FULL: full}
    return {SLIDING: read({}, where, raw.get(local)), FULL: full}
