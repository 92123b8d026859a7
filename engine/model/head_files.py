"""Loads a draft head in EAGLE-3's form from safetensors files, with the names that published heads have.

Does: check all names, shapes and the draft vocabulary before a matrix is read, and build the head. Does not: read
`config.json` (`head_spec`), or share anything with the target but its embedding.
"""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

import torch
from intaglio.kernels.contracts import Gate, RmsNorm, Weight
from torch import Tensor

from ..errors import ModelError
from .decoder import AttentionVariant, Decoder
from .draft_head import DraftHead, DraftVocabulary, HeadInput, HeadRows
from .expected_tensors import complaints
from .file_tensors import FileTensors
from .head_spec import HeadSpec
from .layers import Attention, GatedMlp, Layer, Residual
from .parallel_reads import ParallelReads
from .rotary import build_table
from .schemes.scheme import Stored
from .tensor_files import TensorFile, files_by_tensor
from .tensor_source import TensorCut

DRAFT_TO_TARGET: Final = "d2t"
TARGET_TO_DRAFT: Final = "t2d"
EMBEDDING: Final = "embed_tokens.weight"
_LAYER: Final = "midlayer."
_QKV: Final = tuple(f"{_LAYER}self_attn.{part}_proj.weight" for part in "qkv")
_GATE_UP: Final = tuple(f"{_LAYER}mlp.{part}_proj.weight" for part in ("gate", "up"))
_OUTPUT: Final = _LAYER + "self_attn.o_proj.weight"
_DOWN: Final = _LAYER + "mlp.down_proj.weight"


def expected_head_tensors(spec: HeadSpec) -> dict[str, Stored]:
    """All tensors of a head of this spec, by name."""
    layer, hidden = spec.layer, spec.hidden
    queries, keys = layer.heads * layer.head_dim, layer.kv_heads * layer.head_dim
    whole = spec.draft_vocab == layer.vocab_size
    shapes: dict[str, tuple[int, ...]] = {
        "fc.weight": (hidden, len(spec.layers) * spec.stream),
        "norm.weight": (hidden,),
        "lm_head.weight": (spec.draft_vocab, hidden),
        **dict(
            zip(_QKV, ((queries, 2 * hidden), (keys, 2 * hidden), (keys, 2 * hidden)), strict=True)
        ),
        _OUTPUT: (hidden, queries),
        **dict.fromkeys(_GATE_UP, (layer.ffn, hidden)),
        _DOWN: (hidden, layer.ffn),
        **{
            f"{_LAYER}{norm}.weight": (hidden,)
            for norm in ("hidden_norm", "input_layernorm", "post_attention_layernorm")
        },
    }
    return {name: Stored(shape) for name, shape in shapes.items()} | {
        # A head of another width than its target cannot share the embedding.
        EMBEDDING: Stored((layer.vocab_size, hidden), optional=hidden == spec.stream),
        DRAFT_TO_TARGET: Stored((spec.draft_vocab,), torch.int64, optional=whole),
        TARGET_TO_DRAFT: Stored((layer.vocab_size,), torch.bool, optional=True),
    }


def load_head(folder: Path, spec: HeadSpec, target: Decoder, positions: int) -> DraftHead:
    """The head in `folder` for `target`, with its kernels, dtype and device, and angles for `positions` positions.

    Raises:
        ModelError: a tensor is missing, not used, or of another shape or kind; or the draft vocabulary is none.
    """
    files = files_by_tensor(folder)
    expected = expected_head_tensors(spec)
    stored = {name: file.stored(name) for name, file in files.items()}
    found = list(complaints(stored, expected, set()))
    if found:
        raise ModelError(
            "the weights do not fit a draft head: " + "; ".join(found),
            where=str(folder),
            hint="check config.json against the weights",
        )
    tokens = _draft_tokens(files, spec)
    device = target.embedding.device
    with closing(ParallelReads(device)) as reads:
        source = FileTensors(files, expected, target.embedding.dtype, reads)
        return _assembled(spec, source, target, tokens.to(device), positions)


def _draft_tokens(files: Mapping[str, TensorFile], spec: HeadSpec) -> Tensor:
    """The tokens of the target that the head predicts, by their numbers in the head.

    Files have the difference of both numbers (`d2t`), and which tokens they are (`t2d`).
    """
    own, vocab = torch.arange(spec.draft_vocab), spec.layer.vocab_size
    if DRAFT_TO_TARGET in files:
        own = own + files[DRAFT_TO_TARGET].tensor(DRAFT_TO_TARGET)
    if int(own.min()) < 0 or int(own.max()) >= vocab:
        raise ModelError(
            f"a token of the draft vocabulary is none of the {vocab} tokens of the model",
            where=DRAFT_TO_TARGET,
        )
    if len(own.unique()) < len(own):
        raise ModelError("two tokens of the draft vocabulary are the same", where=DRAFT_TO_TARGET)
    if TARGET_TO_DRAFT in files:
        among = torch.zeros(vocab, dtype=torch.bool)
        among[own] = True
        if not torch.equal(among, files[TARGET_TO_DRAFT].tensor(TARGET_TO_DRAFT)):
            raise ModelError("t2d names other tokens than d2t", where=TARGET_TO_DRAFT)
    return own


def _assembled(
    spec: HeadSpec, source: FileTensors, target: Decoder, tokens: Tensor, positions: int
) -> DraftHead:
    kernels, layer, rows = target.kernels, spec.layer, HeadRows()

    def norm(name: str) -> RmsNorm:
        return RmsNorm(source.tensor(name + ".weight"), layer.norm_eps)

    def weight(*names: str) -> Weight:
        matrix = source.joined([TensorCut(name) for name in names])
        source.settle()
        return kernels.weight(matrix)

    hidden_norm = norm(_LAYER + "hidden_norm")
    plain = Residual(None, None)
    attention = Attention(
        norm=None,
        qkv=HeadInput(
            weight(*_QKV),
            norm(_LAYER + "input_layernorm"),
            None if spec.normed_residual else hidden_norm,
            rows,
            kernels,
        ),
        output=weight(_OUTPUT),
        residual=plain,
        qk_norm=None,
        whole_norm=None,
        sinks=None,
        head_dim=layer.head_dim,
        variant=0,
        kernels=kernels,
    )
    mlp = GatedMlp(
        norm=norm(_LAYER + "post_attention_layernorm"),
        gate_up=weight(*_GATE_UP),
        gate=Gate(layer.activation),
        down=weight(_DOWN),
        residual=plain,
    )
    embedding = source.tensor(EMBEDDING) if source.has(EMBEDDING) else target.embedding
    table = build_table(
        layer.kinds[0].rope, layer.rotary_dim, positions, embedding.dtype, embedding.device
    )
    return DraftHead(
        spec=layer,
        kernels=kernels,
        embedding=embedding,
        embedding_scale=None,
        layers=(Layer(attention, mlp),),
        norm=norm("norm"),
        head=DraftVocabulary(weight("lm_head.weight"), tokens, layer.vocab_size),
        variants=(AttentionVariant(table, None),),
        rows=rows,
        merge=weight("fc.weight"),
        start_norm=hidden_norm if spec.normed_residual else None,
    )
