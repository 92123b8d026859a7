"""The files of a low-rank adapter in the format of PEFT: `adapter_config.json` and `adapter_model.safetensors`.

Does: compare the tensors with the model's linear layers, name every one that does not fit, and read them into the one
vector of an `AdapterLayout`. Does not: keep adapters, or load the model.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import torch
from torch import Tensor

from ..errors import AdapterUnusable, ModelError
from .adapter_config import CONFIG, AdapterConfig, read_adapter_config
from .adapter_layout import AdapterLayout
from .rotary import rotation_order
from .schemes.scheme import Stored
from .spec import ModelSpec
from .tensor_files import TensorFile, open_tensors, some_of

WEIGHTS = "adapter_model.safetensors"
_PREFIX = "base_model.model."
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"
_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class AdapterFiles:
    """The checked files of an adapter that fits the model of `layout`."""

    config: AdapterConfig
    file: TensorFile
    layout: AdapterLayout
    modules: tuple[str, ...]

    def read(self, dtype: torch.dtype) -> Tensor:
        """All matrices [layout.size] in `dtype` on the host; `up` includes the scale, unused places are 0."""
        layout, rank = self.layout, self.layout.rank
        out = torch.zeros(layout.size, dtype=dtype)
        target_modules = set(self.modules)
        for product in layout.products:
            down = out[product.down :][: len(product.parts) * rank * product.inputs]
            up = out[product.up :][: product.outputs * rank].view(product.outputs, rank)
            begin = 0
            for i, part in enumerate(product.parts):
                if part.module in target_modules:
                    name, own = _PREFIX + part.module, self.config.rank
                    rows = down.view(-1, product.inputs)[i * rank : i * rank + own]
                    rows.copy_(self.file.tensor(name + _DOWN))
                    scaled = self.file.tensor(name + _UP).float() * self.config.scale
                    up[begin : begin + part.outputs, :own].copy_(scaled)
                begin += part.outputs
        return out


def adapter_digest(folder: Path) -> str:
    """A name of the content of an adapter's files; equal only for equal files.

    Raises:
        AdapterUnusable: a file cannot be read.
    """
    digest = blake2b(digest_size=32)
    for name in (CONFIG, WEIGHTS):
        path = folder / name
        try:
            digest.update(path.stat().st_size.to_bytes(8, "little"))
            with path.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    digest.update(chunk)
        except OSError as error:
            raise AdapterUnusable(
                f"cannot read {path}: {error.strerror}",
                where=str(path),
                hint=f"an adapter's folder holds {CONFIG} and {WEIGHTS}, as PEFT saves them",
            ) from error
    return digest.hexdigest()


def open_adapter(folder: Path, layout: AdapterLayout) -> AdapterFiles:
    """The adapter in `folder`, after all names, shapes and dtypes were compared with the model.

    Raises:
        AdapterUnusable: it does not fit; names the keys or the tensors.
    """
    _refuse_latents(layout.spec)
    _refuse_partial_rotation(layout.spec)
    config = read_adapter_config(folder)
    if config.rank > layout.rank:
        raise AdapterUnusable(
            f"the adapter has rank {config.rank}, and {layout.rank} is the most here",
            where="r",
            hint=f"start with adapter_rank={config.rank} (INTAGLIO_ENGINE_ADAPTER_RANK)",
        )
    try:
        file = open_tensors(folder / WEIGHTS)
        found = {name: file.stored(name) for name in file.names}
    except ModelError as error:
        raise AdapterUnusable(
            error.message, where=error.where, hint="save the adapter with PEFT, as safetensors"
        ) from error
    modules = _targets(config, layout)
    complaints = list(_complaints(found, config.rank, modules, layout))
    if complaints:
        raise AdapterUnusable(
            f"the adapter does not fit this {layout.spec.family.name} model: "
            + "; ".join(complaints),
            where=WEIGHTS,
            hint="check which model the adapter was trained on (base_model_name_or_path)",
        )
    return AdapterFiles(config, file, layout, modules)


def _targets(config: AdapterConfig, layout: AdapterLayout) -> tuple[str, ...]:
    """The modules that the adapter's settings name."""
    modules = tuple(name for name, layer in layout.modules.items() if config.adapts(name, layer))
    if isinstance(config.targets, tuple):
        unmatched = [
            target
            for target in config.targets
            if target != "all-linear"
            and not any(name == target or name.endswith("." + target) for name in layout.modules)
        ]
        if unmatched:
            raise AdapterUnusable(
                f"target_modules names {some_of(unmatched)}, which cannot be adapted here",
                where="target_modules",
                hint="adapters may change the linear layers of attention and MLPs, not experts, embedding or head",
            )
    if not modules:
        raise AdapterUnusable(
            "target_modules matches no layer of the model", where="target_modules"
        )
    return modules


def _complaints(
    found: Mapping[str, Stored], rank: int, modules: tuple[str, ...], layout: AdapterLayout
) -> Iterator[str]:
    expected: dict[str, tuple[int, int]] = {}
    target_modules = set(modules)
    for product in layout.products:
        for part in product.parts:
            if part.module in target_modules:
                expected[_PREFIX + part.module + _DOWN] = (rank, part.inputs)
                expected[_PREFIX + part.module + _UP] = (part.outputs, rank)
    if missing := sorted(expected.keys() - found.keys()):
        yield f"missing {some_of(missing)}"
    if unused := sorted(found.keys() - expected.keys()):
        yield f"not used {some_of(unused)}"
    both = [(name, found[name], shape) for name, shape in expected.items() if name in found]
    wrong = [
        f"{name} is {list(got.shape)}, not {list(shape)}"
        for name, got, shape in both
        if got.shape != shape
    ]
    if wrong:
        yield f"wrong shape: {some_of(wrong)}"
    mistyped = [f"{name} is of {got.dtype}" for name, got, _ in both if got.dtype is not None]
    if mistyped:
        yield f"wrong dtype: {some_of(mistyped)}, not of floats"


def _refuse_latents(spec: ModelSpec) -> None:
    """Raise `AdapterUnusable` for latent attention: its matrices are factors of others here."""
    if spec.latent is not None:
        raise AdapterUnusable(
            f"adapters of {spec.family.name} models are not supported",
            where="kv_lora_rank",
            hint="merge the adapter into the model",
        )


def _refuse_partial_rotation(spec: ModelSpec) -> None:
    """Raise `AdapterUnusable` for a model with query and key outputs in another order than in its checkpoint."""
    if any(rotation_order(kind.rope, spec.head_dim) is not None for kind in spec.kinds):
        raise AdapterUnusable(
            "adapters of a model that rotates a part of each head are not supported",
            where="partial_rotary_factor",
            hint="merge the adapter into the model",
        )
