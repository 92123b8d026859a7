"""Quantises a checkpoint: reads documents where the format needs them, rounds, writes, and compares.

Does: choose the matrices, bound the memory of calibration, and keep one model in memory at a time. Does not: render
prompts; texts arrive as tokens.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from intaglio.kernels.dispatch import choose
from torch import Tensor

from ..errors import ConfigError, ModelError
from ..model.decoder import Decoder
from ..model.expected_tensors import absorbed_matrices, layer_matrices
from ..model.rotary import rotation_order
from ..model.schemes.scheme import Uniform
from ..model.spec import ModelSpec, read_spec
from ..model.tensor_files import TensorFile, tensor_files
from ..model.weights import load_decoder
from .accuracy import Distributions, compared, distributions
from .input_moments import InputMoments, Observed, ObservedSchemes
from .quantization import CalibrationTexts, Progress, Quantized
from .quantized_files import write_quantized
from .sequence_reader import SequenceReader
from .written_formats import Tensors, WrittenFormat

MOMENT_BYTES = 4 * 2**30
"""The memory for moments of inputs. Layers with more are read in several passes over the documents."""


def quantize(
    source: Path,
    out: Path,
    form: WrittenFormat,
    texts: CalibrationTexts,
    progress: Progress,
    device: str,
) -> Quantized:
    """See `quantize_checkpoint`."""
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigError("torch finds no usable GPU", where="device", hint="use cpu")
    if form.needs_inputs and not texts.calibration:
        raise ValueError("the format needs texts to calibrate with")
    spec = read_spec(source)
    if spec.schemes != Uniform():
        raise ModelError(
            "the checkpoint is quantised already",
            where="config.json",
            hint="quantise the original checkpoint",
        )
    stack = None if spec.family.experts is None else spec.family.experts.stacked
    if stack is not None:
        raise ModelError(
            f"the experts of {spec.family.name} models cannot be quantised here",
            where="config.json",
            hint="use a checkpoint in MXFP4, the format in which these models are published"
            if stack.mxfp4
            else "load it as it is",
        )
    if spec.vision is not None:
        raise ModelError(
            f"{spec.family.name} models, which read images, are not quantised here",
            where="config.json",
            hint="load it as it is, or with quantization int8",
        )
    work = _Work(source, spec, texts, progress, torch.device(device))
    names = _matrices(spec)
    with torch.inference_mode():
        before = work.distributions("original", source) if texts.comparison else None
        rounded = work.rounded(form, names) if form.needs_inputs else None

        def tensors(name: str, matrix: Tensor) -> Tensors:
            return form.tensors(matrix, None) if rounded is None else rounded.pop(name)

        size = write_quantized(source, out, names, tensors, _config(form, names, spec))
        after = None if before is None else work.distributions("quantised", out)
    return Quantized(
        matrices=len(names),
        bytes_before=_bytes(source),
        bytes_after=size,
        accuracy=None if before is None or after is None else compared(before, after),
    )


@dataclass(frozen=True, slots=True)
class _Work:
    source: Path
    spec: ModelSpec
    texts: CalibrationTexts
    progress: Progress
    device: torch.device

    def distributions(self, what: str, folder: Path) -> Distributions:
        """The distributions of a checkpoint on the texts to compare."""
        self.progress(f"reading with the {what} model", 0.0)
        decoder = self._decoder(folder, read_spec(folder))
        return distributions(SequenceReader(decoder, self.texts.longest), self.texts.comparison)

    def rounded(self, form: WrittenFormat, names: Sequence[str]) -> dict[str, Tensors]:
        """The tensors of all matrices, by name and suffix."""
        moments = InputMoments()
        schemes = ObservedSchemes(frozenset(names), Observed(moments))
        decoder = self._decoder(self.source, replace(self.spec, schemes=schemes))
        reader = SequenceReader(decoder, self.texts.longest)
        files = {name: file for file in tensor_files(self.source) for name in file.names}
        found: dict[str, Tensors] = {}
        for group in _groups(self.spec, frozenset(names)):
            moments.watch(group)
            for text in self.texts.calibration:
                reader.hidden(text.tokens)
            for name in group:
                self.progress("rounding", len(found) / len(names))
                matrix = _read(files, name).to(self.device)
                tensors = form.tensors(matrix, moments.of(name, matrix.shape[1]))
                found[name] = {suffix: tensor.cpu() for suffix, tensor in tensors.items()}
        return found

    def _decoder(self, folder: Path, spec: ModelSpec) -> Decoder:
        dtype = torch.float32 if self.device.type == "cpu" else torch.bfloat16
        return load_decoder(
            folder,
            spec,
            kernels=choose(self.device),
            dtype=dtype,
            device=self.device,
            positions=self.texts.longest,
        )


def _matrices(spec: ModelSpec) -> list[str]:
    """The names of the matrices to quantise: all of the layers that the engine also loads quantised."""
    unrotated = {
        spec.family.linears[part].format(i=i)
        for i, kind in enumerate(spec.kinds)
        if rotation_order(kind.rope, spec.head_dim) is not None
        for part in ("q", "k", "v", "qkv")
        if part in spec.family.linears
    }
    named = (name for i in range(spec.layers) for name in layer_matrices(spec, i))
    return [name for name in named if name not in unrotated | absorbed_matrices(spec)]


def _groups(spec: ModelSpec, names: frozenset[str]) -> Iterator[list[str]]:
    """The matrices of consecutive layers with moments that fit `MOMENT_BYTES` together, at least one layer each."""
    group: list[str] = []
    size = 0
    for i in range(spec.layers):
        shapes = {n: shape for n, shape in layer_matrices(spec, i).items() if n in names}
        layer = sum(4 * inputs * inputs for _, inputs in shapes.values())
        if group and size + layer > MOMENT_BYTES:
            yield group
            group, size = [], 0
        group += shapes
        size += layer
    yield group


def _config(form: WrittenFormat, names: Sequence[str], spec: ModelSpec) -> dict[str, Any]:
    """The value of `quantization_config`."""
    name, weights, activations = form.settings()
    every = (name for i in range(spec.layers) for name in layer_matrices(spec, i))
    kept = sorted(set(every) - set(names))
    return {
        "quant_method": "compressed-tensors",
        "quantization_status": "compressed",
        "format": name,
        "global_compression_ratio": None,
        "kv_cache_scheme": None,
        "ignore": ["lm_head", *_routers(spec), *kept],
        "config_groups": {
            "group_0": {
                "targets": ["Linear"],
                "weights": weights,
                "input_activations": activations,
                "output_activations": None,
            }
        },
    }


def _routers(spec: ModelSpec) -> list[str]:
    layout = spec.family.experts
    if layout is None:
        return []
    return [layout.router.format(i=i) for i in range(spec.layers) if spec.mixes(i) is not None]


def _read(files: dict[str, TensorFile], name: str) -> Tensor:
    return files[name + ".weight"].tensor(name + ".weight")


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in {file.path for file in tensor_files(folder)})
