"""Whether an adapter fits a model, before either is loaded.

Does: read the settings and the headers of the files. Does not: keep anything in memory.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterReport:
    """An adapter that fits: its rank, the number of linear layers that it changes, and a digest of its files."""

    digest: str
    rank: int
    modules: int


def check_adapter(model: Path, adapter: Path, most_rank: int) -> AdapterReport:
    """The report of the adapter in the folder `adapter` for the checkpoint in the folder `model`.

    Raises:
        AdapterUnusable: it does not fit, or its rank is above `most_rank`; names the key or the tensors.
        ModelError: there is no usable model.
    """
    # Not above: they import torch, and a process that serves an API does without.
    from .adapter_files import adapter_digest, open_adapter
    from .adapter_layout import AdapterLayout
    from .spec import read_spec

    digest = adapter_digest(adapter)
    files = open_adapter(adapter, AdapterLayout(read_spec(model), most_rank))
    return AdapterReport(digest=digest, rank=files.config.rank, modules=len(files.modules))
