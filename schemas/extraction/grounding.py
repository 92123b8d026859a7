"""The wire types of sources and confidences: where the values of an answer come from and how sure the model is of them.

Does: define spans, boxes, matches and confidences of the leaves of `data`. Does not: find or compute them.
"""

from typing import Literal

from pydantic import JsonValue

from ..base import Wire

MatchKind = Literal["verbatim", "exact", "folded", "number", "date", "none"]


class Span(Wire):
    """A range of the document's text, in code points: `start` is its first, `end` the one after its last."""

    start: int
    end: int


class Box(Wire):
    """A rectangle on a page, in points (1/72 inch) from the page's top left corner. `page` counts from 1."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class TokenAlternative(Wire):
    """A token that the schema allowed at a place, and its probability there."""

    text: str
    probability: float


class ValueToken(Wire):
    """One token of a value, as the model wrote it: `probability` is that among the legal ones, `masked` the share of
    the model's own probability that illegal ones had. A token without `alternatives` was the only legal one.

    The first and the last token may reach beyond the value; the first ones may end before it, if they decide how it
    begins. A character that several tokens write is � in each of them.
    """

    text: str
    probability: float
    masked: float | None = None
    alternatives: tuple[TokenAlternative, ...] = ()


class LeafConfidence(Wire):
    """How sure the model is of one value.

    `probability` is that of the value among the continuations that the schema allows: of the whole value for enums,
    booleans and null, the geometric mean over the tokens that the model chose for all others; None for a value that was
    begun or ended in place of the model. `masked` is the greatest share of the model's own probability that the mask
    took away at a token of the value. `not_stated` is the greatest probability that null can have had, if null is
    allowed and the most likely tokens can lead to it. A token before the value counts as one of its tokens if it
    decides how the value begins. `agrees`: a second reading gave the same value. `calibrated` is the probability that
    the value is right, by the calibration of the model, if it has one. `tokens` are those of the value, if
    `token_alternatives` asks for them.
    """

    probability: float | None = None
    masked: float | None = None
    not_stated: float | None = None
    agrees: bool | None = None
    calibrated: float | None = None
    tokens: tuple[ValueToken, ...] = ()


class Candidate(Wire):
    """Another value that a reading of the document gave for a leaf, with its source there."""

    value: JsonValue
    span: Span | None = None
    probability: float | None = None


class FieldReport(Wire):
    """Where one leaf of `data` comes from.

    `match` is `verbatim` if decoding allowed substrings of the document only; `exact` if the text occurs in the
    document; `folded` if it does but for case, white space or the form of its characters; `number` or `date` if the
    document writes the same number or date differently; `none` if it was not found. `span` is the place that is taken
    for the source; `occurrences` are all places, in order, at most 64.
    """

    match: MatchKind = "none"
    span: Span | None = None
    occurrences: tuple[Span, ...] = ()
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    confidence: LeafConfidence | None = None
    candidates: tuple[Candidate, ...] = ()
