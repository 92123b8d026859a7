"""The decoder-only transformer of all model families.

Does: compute hidden states from token ids, and logits from selected hidden states. Does not: know families (they are
data in `ModelSpec`), sequences, or the memory of its inputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from intaglio.kernels.contracts import Kernels, Logits, Places, Ragged, RmsNorm, Weight
from intaglio.kernels.sampling_contracts import Legal, SampleArgs, Sampled
from torch import Tensor

from ..parallel.parallel_layout import PipelineStage
from .adapted_weight import StepAdapters
from .layers import Layer, StepContext
from .rotary import RopeTable
from .sequence_parallel import DividedTokens
from .spec import ModelSpec
from .vocabulary_shard import VocabularyShard


@dataclass(frozen=True, slots=True)
class AttentionVariant:
    """The attention settings that some layers share: a rotation and a sliding window (see `Kernels.attend`).

    `group` is their block group: the layers of different groups have different block tables.
    """

    rope: RopeTable
    window: int | None
    group: int = 0


@dataclass(frozen=True, slots=True)
class GroupPlaces:
    """The block tables of a step in one block group, and the slots of its tokens there; see `Places`."""

    ragged: Ragged
    slots: Tensor


@dataclass(frozen=True, slots=True)
class ImageStates:
    """Encoded cells of images, `states` [M, levels, hidden], for the tokens `at` [M].

    The first level stands in place of the embeddings. Each further one is added to the output of a layer, from the
    first layer on (DeepStack, Meng et al. 2024).
    """

    at: Tensor
    states: Tensor

    def begin(self, residual: Tensor) -> None:
        """Put the first level into `residual` [N, hidden]."""
        residual.index_copy_(0, self.at, self.states[:, 0])

    def add(self, residual: Tensor, layer: int) -> None:
        """Add the level that belongs to the output of layer `layer` to `residual`, if there is one."""
        if layer + 1 < self.states.shape[1]:
            residual.index_add_(0, self.at, self.states[:, layer + 1])


@dataclass(frozen=True, slots=True)
class Decoder:
    """Weights and layers of a model, ready to run.

    `embedding` [vocab, hidden]; looked-up rows are multiplied by `embedding_scale`, None for 1. Layers name one of the
    `variants` by its index. With a `shard`, this is one rank's part of a model: `spec` has its number of heads, and
    `embedding` and `head` its part of the vocabulary. With a `stage` it has that stage's layers only: `spec` counts
    them, `embedding` has no rows unless the stage looks them up, and `head` is None unless it is the last one. With
    `adapters` the layers' weights add those of each row. `divided` computes large steps, if ranks divide their tokens.
    """

    spec: ModelSpec
    kernels: Kernels
    embedding: Tensor
    embedding_scale: float | None
    layers: tuple[Layer, ...]
    norm: RmsNorm
    head: Weight | None
    variants: tuple[AttentionVariant, ...]
    shard: VocabularyShard | None = None
    adapters: StepAdapters | None = None
    stage: PipelineStage | None = None
    divided: DividedTokens | None = None

    @property
    def embeds(self) -> bool:
        """Whether this part of a model begins with tokens, not with the hidden states of the stage before."""
        return self.stage is None or self.stage.layout.is_first

    @property
    def samples(self) -> bool:
        """Whether this part of a model ends in logits."""
        return self.head is not None

    def receive(self, rows: int, out: Tensor | None = None) -> Tensor | None:
        """The hidden states [rows, hidden] of the stage before, in `out` if it is given.

        A part that begins with tokens receives nothing; then the result is `out`.
        """
        if self.embeds:
            return out
        assert self.stage is not None
        if out is None:
            out = self.embedding.new_empty((rows, self.embedding.shape[1]))
        return self.stage.receive(out)

    def send(self, states: Tensor) -> None:
        """Give the result of `hidden` to the next stage, if there is one; see `Communicator.send`."""
        if self.stage is not None and not self.stage.layout.is_last:
            self.stage.send(states)

    def last(self, count: int) -> "Decoder":
        """The last `count` layers alone."""
        return replace(
            self,
            spec=replace(self.spec, layers=count),
            layers=self.layers[-count:],
            divided=None if self.divided is None else self.divided.last(count),
        )

    def step(
        self,
        ragged: Ragged,
        positions: Tensor,
        slots: Tensor,
        cache_shape: Sequence[int],
        adapters: Tensor | None = None,
        others: Sequence[GroupPlaces] = (),
    ) -> StepContext:
        """Prepare a step of N tokens at `positions` [N], with keys and values stored in `slots`.

        `ragged` and `slots` are those of the first block group, `others` those of the other groups. A step with tokens
        of images has three positions for each token, [3, N]. See `Kernels.attend`. `adapters` [N] int32: the place of
        each row's adapter, negative for none; None: no row has one.
        """
        spec, passes = self.spec, []
        groups = (GroupPlaces(ragged, slots), *others)
        each = None
        if positions.dim() > 1:
            each = torch.arange(positions.shape[1], dtype=torch.int32, device=positions.device)
        for variant in self.variants:
            rope = variant.rope if each is None else variant.rope.of_tokens(positions)
            tables, rows = groups[variant.group], positions if each is None else each
            places = Places(rope.cos, rope.sin, rows, tables.slots)
            passes.append(
                self.kernels.attend(
                    tables.ragged, places, spec.heads, cache_shape, spec.scores, variant.window
                )
            )
        if self.adapters is None:
            return StepContext(tuple(passes))
        self.adapters.begin(adapters)
        return StepContext(tuple(passes), self.adapters.narrow)

    def hidden(
        self,
        tokens: Tensor,
        caches: Sequence[Tensor],
        step: StepContext,
        logits_indices: Tensor | None = None,
        out: Tensor | None = None,
        images: ImageStates | None = None,
        written: Callable[[int], None] | None = None,
    ) -> Tensor:
        """Hidden states [N, hidden] of `tokens` [N] after the last layer; `caches` is one KV tensor per layer.

        With `logits_indices` [R] only the states of these rows, [R, hidden]: a prompt needs one row, so its last layer
        is almost free. `out` [N, hidden] is the memory of the residual stream; without `logits_indices` it holds the
        result. `images` replace the embeddings of their tokens; see `ImageStates`. There are fewer levels than layers.

        `written` is called with the number of each layer when its keys and values are stored, or will be on the device;
        not where ranks divide the tokens.

        A stage after the first continues with the states in `out` (`receive`); one before the last computes all rows,
        for the next stage (`send`). The exchange is apart, because it is no part of a captured pass.
        """
        residual = self._embedded(tokens, out, images) if self.embeds else out
        assert residual is not None, "a later stage needs the states of the stage before"
        divided = self.divided
        if divided is not None and logits_indices is not None and divided.takes(residual.shape[0]):
            return divided.run(self.layers, residual, caches, step, logits_indices)
        for i, (layer, cache) in enumerate(zip(self.layers[:-1], caches[:-1], strict=True)):
            residual = layer.run(residual, cache, step)
            if images is not None:
                images.add(residual, i)
            if written is not None:
                written(i)
        result = self.layers[-1].run(
            residual, caches[-1], step, logits_indices if self.samples else None
        )
        if written is not None:
            written(len(self.layers) - 1)
        return result

    def _embedded(self, tokens: Tensor, out: Tensor | None, images: ImageStates | None) -> Tensor:
        """The residual stream before the first layer; see `hidden`."""
        if self.shard is None:
            residual = torch.index_select(self.embedding, 0, tokens, out=out)
        else:
            residual = self.shard.embed(self.embedding, tokens, out)
        if self.embedding_scale is not None:
            residual.mul_(self.embedding_scale)
        if images is not None:
            images.begin(residual)
        return residual

    def logits(self, hidden: Tensor, legal: Legal | None = None) -> Tensor:
        """Logits [R, vocab] of `hidden` [R, hidden], in the weights' dtype; with `legal`, only those of legal tokens
        are defined. With a `shard`, those of its part of the vocabulary, which `legal` is for."""
        assert self.head is not None, "only the last stage has logits"
        return self.head.matmul(hidden, self.norm, Logits(legal, self.spec.logit_softcap))

    def sample(self, hidden: Tensor, args: SampleArgs) -> Sampled:
        """A token for each row of `hidden` [R, hidden]; see `Kernels.sample`."""
        if self.shard is None:
            return self.kernels.sample(self.logits(hidden, args.legal), args)
        legal = self.shard.part.legal(args.legal)
        return self.shard.sample(self.logits(hidden, legal), args, self.kernels)
