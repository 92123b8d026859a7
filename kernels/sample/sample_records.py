"""Named tuples that sampling kernels take, return and pass on: pointers on the device, tensors on the host.

Does: name the fields. Does not: compute. Triton flattens named tuples when it compiles, so they cost nothing on the
device. A kernel wraps its tuple arguments again, as in `Scores(*scores)`: when it is compiled ahead of its first launch
(`precompile`), it gets them without names, because Triton stores signatures as JSON. No field is called `values` or
`type`: Triton's own tuple has attributes of these names.

Shapes are host shapes; R is rows of logits, G groups of a row, C candidates of a row.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import triton.language as tl

from ..runtime.tuples import Tensors

Argument = Any
"""A torch tensor or a number where a kernel is launched, a pointer or a scalar inside of it."""


class Scores(NamedTuple):
    """The logits of all rows: [R, at least `vocab`], `row_stride` logits from row to row.

    `stored`: the number of 32-bit words of a row if two logits share a word, else the number of logits.
    """

    logits: Argument
    row_stride: Argument
    stored: Argument
    vocab: Argument


class MaskWords(NamedTuple):
    """Packed masks: `words` int32 [masks, width], `rows` int32 [R] the mask of each row (-1: all tokens are legal)."""

    words: Argument
    row_stride: Argument
    width: Argument
    rows: Argument


class DrawInputs(NamedTuple):
    """`temperature` [R] float32 and `keys` [R, 2] int64 of each row's draw."""

    temperature: Argument
    keys: Argument


class Edits(NamedTuple):
    """Bias and penalties, by row: where each row's pairs begin [R + 1], tokens, and values or counts of the pairs.

    `strengths` float32 [R, 3]: repetition, presence, frequency.
    """

    bias_starts: Argument
    bias_tokens: Argument
    bias_values: Argument
    penalty_starts: Argument
    penalty_tokens: Argument
    penalty_counts: Argument
    strengths: Argument


if TYPE_CHECKING:
    OptionalEdits = Edits | tuple[()]  # empty where no row of the batch has any
else:
    OptionalEdits = Edits  # see `tuples`


class Cutoffs(NamedTuple):
    """Truncation of each row [R]: `top_k` int64, `top_p` and `min_p` float32."""

    top_k: Argument
    top_p: Argument
    min_p: Argument


class Groups(NamedTuple):
    """The largest logit and the summed weight of every group: float32 [R, G] each."""

    best: Argument
    total: Argument


class Outputs(NamedTuple):
    """The results of each row, as written by the passes.

    `tokens`, `status` int64 [R]; `logprobs`, `logsumexp` float32 [R]; `weights` float32 [R, 2]: the largest logit of
    the row as it is drawn from, and its summed weight; `candidate_tokens` int32 and `candidate_logits` float32 [R, C];
    `flat_rows` int32 [1 + R]: how many rows are left to the flat pass, and which.
    """

    tokens: Argument
    status: Argument
    logprobs: Argument
    logsumexp: Argument
    weights: Argument
    candidate_tokens: Argument
    candidate_logits: Argument
    flat_rows: Argument


class FlatRows(NamedTuple):
    """The flat pass's input per row: `task` int32 [R]; `bounds` float32 [R, 2], the cut and the search's start.

    The cut is known as far as min-p gives it; the search for the rest of it starts at the second bound.
    """

    task: Argument
    bounds: Argument


class WeightSum(NamedTuple):
    """Summed weights `2**((x - peak) * scale)` and their largest logit."""

    peak: tl.tensor
    total: tl.tensor


class Leaders(NamedTuple):
    """For every candidate, the best value of each octet so far, and its group or step."""

    best: Tensors
    choices: Tensors


class RowPart(NamedTuple):
    """The partial result of one program for its tiles of a row, or the result of all programs of the row.

    `best` float32 [C]: the best value for each candidate, infinity if a legal logit is not sound; `choices` int32 [C]:
    the group, or at temperature 0 the token, that has it. `own`: weights under the model's distribution; `drawn`:
    weights under that of the draw.
    """

    best: tl.tensor
    choices: tl.tensor
    own: WeightSum
    drawn: WeightSum


class Candidates(NamedTuple):
    """Tokens drawn from a row before truncation, and their logits: [C] each."""

    tokens: tl.tensor
    logits: tl.tensor


class WholeRow(NamedTuple):
    """A row to be read in full: `logits` and `edited` point to its beginning, `edit` selects one of them."""

    logits: tl.tensor
    edited: tl.tensor
    edit: tl.tensor
    mask: MaskWords
    mask_row: tl.tensor
    vocab: tl.tensor
