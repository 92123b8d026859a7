"""The part of the vocabulary of one rank: embedding, output head and sampling where no rank has all tokens.

Does: look up embeddings, and sample from the parts of all ranks the token that one process would sample. Does not:
divide the tables (`sharded_weights`).
"""

from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Kernels
from intaglio.kernels.sample.sharded_sampling import VocabularyPart, sample_part
from intaglio.kernels.sampling_contracts import SampleArgs, Sampled
from torch import Tensor

from ..parallel.parallel_layout import TensorParallel


@dataclass(frozen=True, slots=True)
class VocabularyShard:
    """The tokens of `part`, of `vocab` tokens in all."""

    part: VocabularyPart
    vocab: int
    parallel: TensorParallel

    @classmethod
    def of(cls, vocab: int, parallel: TensorParallel) -> "VocabularyShard":
        """The part of this rank."""
        own = parallel.layout.tokens(vocab)
        return cls(VocabularyPart(own.start, own.stop - own.start), vocab, parallel)

    def embed(self, table: Tensor, tokens: Tensor, out: Tensor | None) -> Tensor:
        """The embeddings [N, hidden] of `tokens` [N], any of the vocabulary, from the rows of this rank in `table`."""
        own = tokens - self.part.first
        foreign = (own < 0) | (own >= self.part.width)
        rows = torch.index_select(table, 0, own.clamp(0, self.part.width - 1), out=out)
        rows.masked_fill_(foreign[:, None], 0)
        return self.parallel.communicator.all_reduce(rows)

    def sample(self, logits: Tensor, args: SampleArgs, kernels: Kernels) -> Sampled:
        """See `Kernels.sample`; `logits` [R, width] are those of this rank.

        A GPU, and rows with a top-k, top-p or min-p, gather all logits; other rows exchange a few numbers each.
        """
        communicator = self.parallel.communicator
        if args.truncation is None and logits.device.type == "cpu":
            return sample_part(logits, args, self.part, communicator.all_gather)
        widest = self.parallel.layout.most_tokens(self.vocab)
        if self.part.width < widest:
            logits = torch.nn.functional.pad(logits, (0, widest - self.part.width))
        gathered = communicator.all_gather(logits.contiguous())
        # Padding lies past the vocabulary: only the last parts are narrower.
        return kernels.sample(gathered.transpose(0, 1).flatten(1), args)
