"""Whether a checkpoint would load, and the memory that it would take, before anything is loaded.

Does: read `config.json`, the processor's file of a model that reads images, and the headers of the weights. Does not:
read weights, or know the memory of a device.
"""

from dataclasses import dataclass
from math import prod
from pathlib import Path

from .families import FAMILIES


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointReport:
    """A checkpoint that loads.

    `window` is the smallest sliding window of a layer, None if none has one. `experts` is the number of experts in a
    layer, 0 without. `image_cell` is the side in pixels of what one token of an image shows, 0 for a model that reads
    none. `cpu_only`: it does not run on a GPU. `weight_bytes` and `kv_bytes_per_token` are in memory. `kv_groups` are
    the block groups of the layers, as pairs: the tokens that they keep of a sequence, None for all, and bytes for each.
    """

    family: str
    architecture: str
    parameters: int
    tensors: int
    files: int
    max_context: int
    window: int | None
    experts: int
    image_cell: int
    cpu_only: bool
    weight_bytes: int
    kv_bytes_per_token: int
    kv_groups: tuple[tuple[int | None, int], ...]

    def bytes_at(self, context: int, sequences: int = 1) -> int:
        """Bytes of the weights, and of the keys and values of `sequences` of `context` computed tokens each."""
        kept = [
            (context if window is None else min(context, window)) * size
            for window, size in self.kv_groups
        ]
        return self.weight_bytes + sequences * sum(kept)


@dataclass(frozen=True, slots=True)
class SupportedFamily:
    """A family of models that the engine loads: its `architectures` entry in `config.json`."""

    name: str
    architecture: str
    examples: str
    cpu_only: bool


def check_checkpoint(folder: Path, element_bytes: int = 4) -> CheckpointReport:
    """The report of the checkpoint in `folder`, with weights, keys and values in `element_bytes` bytes each.

    Raises:
        ModelError: it would not load; names the file, the key or the tensors that are the reason.
    """
    # Not above: they import torch, and a process that serves an API does without.
    from .expected_tensors import check_tensors, expected_shapes, expected_tensors, stored_bytes
    from .layer_groups import layer_groups
    from .spec import read_spec
    from .tensor_files import files_by_tensor
    from .vision_spec import image_format

    spec = read_spec(folder)
    files = files_by_tensor(folder, spec.family.prefixes)
    found = {name: file.stored(name) for name, file in files.items()}
    check_tensors(found, expected_tensors(spec), spec)
    images = image_format(folder, spec.vision)
    per_token = spec.kv_block_bytes(1, element_bytes)
    groups = layer_groups([kind.window for kind in spec.kinds])
    return CheckpointReport(
        family=spec.family.name,
        architecture=spec.family.architecture,
        parameters=sum(prod(shape) for shape in expected_shapes(spec).values()),
        tensors=len(found),
        files=len({file.path for file in files.values()}),
        max_context=spec.max_positions,
        window=spec.window,
        experts=0 if spec.experts is None else spec.experts.count,
        image_cell=0 if images is None else images.factor,
        cpu_only=spec.family.cpu_only,
        weight_bytes=sum(stored_bytes(spec, element_bytes).values()),
        kv_bytes_per_token=per_token,
        kv_groups=tuple(
            [(window, per_token // spec.layers * groups.depth) for window in groups.windows]
        ),
    )


def supported_families() -> tuple[SupportedFamily, ...]:
    """All families that the engine loads."""
    return tuple(
        SupportedFamily(family.name, family.architecture, family.examples, family.cpu_only)
        for family in FAMILIES
    )
