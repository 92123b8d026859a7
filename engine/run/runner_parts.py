"""The parts that a runner is built from, for every device.

Does: allocate the sequence state and the KV cache of a loaded model. Does not: load the model, or choose a device.
"""

from dataclasses import dataclass

import torch

from ..config import CacheConfig
from ..memory.block_groups import BlockGroups
from ..model.decoder import Decoder
from ..model.expert_loads import ExpertLoads
from ..model.layer_groups import LayerGroups
from ..model.vision_encoder import VisionEncoder
from ..parallel.parallel_layout import Parallel
from .adapter_store import AdapterStore
from .image_rows import ImageRows
from .image_states import EncodedImages
from .kv import KVCache, count_blocks, kept_dtype
from .runner import RunnerLimits
from .slots import SlotState


@dataclass(frozen=True, slots=True)
class RunnerParts:
    """A loaded model, the settings of its cache, and the limits of a step.

    `parallel`: see `build_runner`. `adapters`: None without places for them. `encoder` reads images; None for a model
    that reads none. `experts` counts those of the decoder, if there are any. `layout`: the block groups of its layers,
    None for one of all.
    """

    decoder: Decoder
    cache: CacheConfig
    limits: RunnerLimits
    parallel: Parallel | None = None
    adapters: AdapterStore | None = None
    encoder: VisionEncoder | None = None
    experts: ExpertLoads | None = None
    layout: LayerGroups | None = None

    @property
    def groups(self) -> BlockGroups:
        """The block groups of the layers, as the memory sees them."""
        windows = (None,) if self.layout is None else self.layout.windows
        return BlockGroups(self.cache.block_size, windows, self.limits.max_batched_tokens)

    def images(self) -> ImageRows | None:
        """The images of the sequences; None for a model that reads none."""
        if self.encoder is None:
            return None
        return ImageRows(EncodedImages(self.encoder.encode, self.cache.image_bytes))

    def rows(self) -> SlotState:
        """The sequence state for these limits."""
        return SlotState(
            self.limits.max_running, self.limits.max_context, self.cache.block_size, self.groups
        )

    def kv(self, num_blocks: int) -> KVCache:
        """A KV cache of `num_blocks`, on the device of the weights."""
        embedding = self.decoder.embedding
        return KVCache(
            self.decoder.spec,
            num_blocks,
            self.cache.block_size,
            kept_dtype(self.cache, embedding),
            embedding.device,
            self.layout,
        )

    def count(self, free_bytes: int | None = None) -> int:
        """The number of blocks of the cache; see `count_blocks`. Of several ranks the least, on all of them."""
        count = count_blocks(
            self.cache,
            self.decoder.spec,
            dtype=kept_dtype(self.cache, self.decoder.embedding),
            max_running=self.limits.max_running,
            max_context=self.limits.max_context,
            free_bytes=free_bytes,
            groups=self.groups,
            depth=None if self.layout is None else self.layout.depth,
        )
        if self.parallel is None:
            return count
        own = torch.tensor([count], device=self.decoder.embedding.device)
        return int(self.parallel.least(own))
