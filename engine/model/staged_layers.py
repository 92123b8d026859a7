"""The part of a model that one stage of a pipeline holds: some of its layers.

Does: say which models can be divided into stages, choose the layers of each, describe a stage as a `ModelSpec` with
fewer layers, read the tensors of the vocabulary where a stage needs them. Does not: read layers, or compute.
"""

from dataclasses import replace

from torch import Tensor

from ..errors import ConfigError
from ..parallel.parallel_layout import PipelineStage, StageLayout
from .expected_tensors import LAYER, stored_bytes
from .family import EMBEDDING, FINAL_NORM, HEAD
from .spec import ModelSpec
from .tensor_source import TensorCut, TensorSource


def refuse_unstageable(spec: ModelSpec, pp: int) -> None:
    """Raise `ConfigError` if the model cannot be divided into `pp` stages."""
    if spec.layers < pp:
        raise ConfigError(
            f"{spec.layers} layers are too few for {pp} stages",
            where="pp",
            hint=f"set pp to at most {spec.layers}",
        )
    if spec.vision is not None:
        raise ConfigError(
            f"{spec.family.name} models read images, which stages do not hand on",
            where="pp",
            hint="set pp to 1",
        )


def vocabulary_tensors(
    spec: ModelSpec, weights: TensorSource, stage: PipelineStage | None
) -> tuple[Tensor, Tensor | None]:
    """The embedding and the head; the former without rows, and the latter None, where a stage does not use it.

    Their values may come later: see `TensorSource.joined`.
    """
    place = None if stage is None else stage.layout
    if place is None or place.is_first or (place.is_last and spec.tied):
        embedding = weights.joined([TensorCut(EMBEDDING + ".weight")])
    else:
        embedding = weights.tensor(FINAL_NORM + ".weight").new_empty((0, spec.hidden))
    if place is not None and not place.is_last:
        return embedding, None
    return embedding, embedding if spec.tied else weights.joined([TensorCut(HEAD + ".weight")])


def stage_layers(spec: ModelSpec, place: StageLayout) -> range:
    """The layers of a stage of the whole model `spec`, so that all stages read about as many bytes of weights.

    The last one reads the head as well: as much as three layers of an 8B model with 152,000 tokens. It multiplies in
    proportion, unless matrices have fewer bits than the head.
    """
    layers, head = [0] * spec.layers, 0
    tied = EMBEDDING if spec.tied else HEAD
    for name, size in stored_bytes(spec).items():
        layer = LAYER.match(name)
        if layer is not None:
            layers[int(layer[1])] += size
        elif name == tied + ".weight":
            head = size
    return place.layers(layers, head)


def staged_spec(spec: ModelSpec, own: range) -> ModelSpec:
    """The model of a stage with the layers `own`, as its cache and its attention see it."""
    at = slice(own.start, own.stop)
    experts = spec.experts
    return replace(
        spec,
        layers=len(own),
        kinds=spec.kinds[at],
        experts=None if experts is None else replace(experts, layers=experts.layers[at]),
    )
