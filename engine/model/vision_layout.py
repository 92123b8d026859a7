"""The patches of images in the order in which the encoder computes them, and the groups that attend to each other.

Does: compute places, windows and the order of patches, from the grids of images. Does not: read pixels, or compute
states.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .vision_spec import VisionSpec

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PatchLayout:
    """The patches of several images: first by window, then by cell, then by row and column within the cell.

    `grids` are the rows and columns of cells of the images. `order` [C] are the cells in this order, by their number in
    all images, each image row by row. `places` [2, P] are the rows and columns of the patches in their image. `windows`
    and `images` are the groups that attend to each other: [groups, patches] for each size of group.
    """

    grids: tuple[tuple[int, int], ...]

    order: Ints
    places: Ints
    windows: tuple[Ints, ...]
    images: tuple[Ints, ...]


def patch_layout(grids: Sequence[tuple[int, int]], spec: VisionSpec) -> PatchLayout:
    """The layout of images of these grids, in rows and columns of cells."""
    orders, places, windows, counts, before = [], [], [], [], 0
    for rows, columns in grids:
        row, column = (each.reshape(-1) for each in np.indices((rows, columns)))
        side = max(rows, columns) if spec.cells is None else spec.cells
        window = row // side * -(-columns // side) + column // side
        order = np.argsort(window, kind="stable")
        orders.append(order + before)
        windows.append(np.bincount(window))
        counts.append(rows * columns)
        within = [each.reshape(-1) for each in np.indices((spec.merge, spec.merge))]
        places.append(
            np.stack(
                [
                    (cell[order, None] * spec.merge + inner).reshape(-1)
                    for cell, inner in zip((row, column), within, strict=True)
                ]
            )
        )
        before += rows * columns
    merged = spec.merge**2
    return PatchLayout(
        grids=tuple(grids),
        order=np.concatenate(orders),
        places=np.concatenate(places, axis=1),
        windows=_by_size(np.concatenate(windows) * merged),
        images=_by_size(np.array(counts) * merged),
    )


def _by_size(sizes: Ints) -> tuple[Ints, ...]:
    """Consecutive groups of these sizes, as indices [groups, size] for each size that occurs."""
    starts = np.cumsum(sizes) - sizes
    return tuple(
        starts[sizes == size][:, None] + np.arange(size) for size in np.unique(sizes[sizes > 0])
    )
