"""The figures of an evaluation: predictions against gold records, by field, by group and in total.

Does: count and divide. Does not: extract, or lay figures out (`eval_page`, the command line).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from intaglio.schemas.base import Wire
from intaglio.schemas.json_pointer import leaves
from pydantic import JsonValue

from .gold import GoldRecord
from .leaf_pairs import LeafPair, leaf_pairs
from .leaf_values import is_blank, same
from .predictions import Prediction, PredictionError
from .ranking import ConfidenceScores, Judged, confidence_scores

K = TypeVar("K")


class Ratio(Wire):
    """Precision, recall and their harmonic mean; None where nothing was given, or nothing was to be found."""

    precision: float | None
    recall: float | None
    f1: float | None


class FieldScore(Wire):
    """One field of one group, over all documents. The field of list elements has `*` for the index.

    `gold` and `given` count stated values: not null, not an empty array or object. Of the given ones `exact` are equal
    to the gold value, `near` say the same in another form (text, number, date), `wrong` have another gold value and
    `invented` none. `missed` are gold values without a given one. `ratio_exact` counts exact values as right,
    `ratio_near` near ones, too.
    """

    group: str
    field: str
    gold: int
    given: int
    exact: int
    near: int
    wrong: int
    missed: int
    invented: int
    ratio_exact: Ratio
    ratio_near: Ratio


class Shares(Wire):
    """Shares of a set of documents; None for a set without leaves.

    `at_pointer`: of all gold leaves, nulls included, those with an equal value at the same JSON Pointer, lists compared
    position by position. `aligned` and `near` are counted with lists aligned; `near` also takes values in another form.
    `blank` is what an answer of nulls alone gets. `whole` and `whole_near`: documents with every leaf right and no
    stated value more. Records without an answer count as wrong.
    """

    documents: int
    answered: int
    leaves: int
    at_pointer: float | None
    aligned: float | None
    near: float | None
    blank: float | None
    whole: float | None
    whole_near: float | None


class GroupScore(Wire):
    """The shares of the documents of one domain or schema."""

    group: str
    shares: Shares


class FailedRecord(Wire):
    """A record without an answer."""

    id: str
    code: str
    message: str


class Mistake(Wire):
    """A leaf that is not exactly right. `kind` is `near`, `wrong`, `missed` or `invented`."""

    id: str
    field: str
    kind: Literal["near", "wrong", "missed", "invented"]
    expected: JsonValue = None
    given: JsonValue = None
    probability: float | None = None


class EvaluationReport(Wire):
    """The figures of one evaluation.

    `macro` is the mean over groups of each share, so that a group with many documents weighs no more than another;
    `total` counts all stated values. `unknown_ids` are predictions for no gold record; they count nowhere.
    """

    gold: str
    model: str | None
    total: FieldScore
    shares: Shares
    macro: Shares
    groups: tuple[GroupScore, ...]
    fields: tuple[FieldScore, ...]
    confidence: ConfidenceScores | None
    failed: tuple[FailedRecord, ...]
    unknown_ids: tuple[str, ...]
    mistakes: tuple[Mistake, ...]


@dataclass(slots=True)
class _Counts:
    """Stated values of one field."""

    gold: int = 0
    given: int = 0
    exact: int = 0
    near: int = 0
    missed: int = 0
    invented: int = 0

    def add(self, pair: LeafPair) -> None:
        gold, given = (
            is_stated(pair.gold_pointer, pair.gold),
            is_stated(pair.given_pointer, pair.given),
        )
        self.gold += gold
        self.given += given
        if gold and given:
            self.exact += pair.agreement == "exact"
            self.near += pair.agreement not in ("exact", "none")
        self.missed += gold and not given
        self.invented += given and not gold

    def score(self, group: str, name: str) -> FieldScore:
        both = self.given - self.invented
        return FieldScore(
            group=group,
            field=name,
            gold=self.gold,
            given=self.given,
            exact=self.exact,
            near=self.near,
            wrong=both - self.exact - self.near,
            missed=self.missed,
            invented=self.invented,
            ratio_exact=_ratio(self.exact, self.given, self.gold),
            ratio_near=_ratio(self.exact + self.near, self.given, self.gold),
        )


@dataclass(slots=True)
class _Tally:
    """Leaves and documents of one group."""

    documents: int = 0
    answered: int = 0
    leaves: int = 0
    at_pointer: int = 0
    aligned: int = 0
    near: int = 0
    blank: int = 0
    whole: int = 0
    whole_near: int = 0

    def add(self, gold: JsonValue, given: JsonValue, pairs: Sequence[LeafPair] | None) -> None:
        wanted = dict(leaves(gold))
        self.documents += 1
        self.leaves += len(wanted)
        self.blank += sum(map(is_blank, wanted.values()))
        if pairs is None:
            return
        found = dict(leaves(given))
        extra = sum(is_stated(p.given_pointer, p.given) for p in pairs if p.gold_pointer is None)
        exact = sum(pair.agreement == "exact" for pair in pairs)
        near = sum(pair.agreement != "none" for pair in pairs)
        at_pointer = sum(at in found and same(value, found[at]) for at, value in wanted.items())
        self.answered += 1
        self.at_pointer += at_pointer
        self.aligned += exact
        self.near += near
        self.whole += at_pointer == len(wanted) and not extra
        self.whole_near += near == len(wanted) and not extra

    def shares(self) -> Shares:
        return Shares(
            documents=self.documents,
            answered=self.answered,
            leaves=self.leaves,
            at_pointer=_share(self.at_pointer, self.leaves),
            aligned=_share(self.aligned, self.leaves),
            near=_share(self.near, self.leaves),
            blank=_share(self.blank, self.leaves),
            whole=_share(self.whole, self.documents),
            whole_near=_share(self.whole_near, self.documents),
        )


@dataclass(slots=True)
class _Everything:
    """All counts of one evaluation."""

    total: _Counts = field(default_factory=_Counts)
    tally: _Tally = field(default_factory=_Tally)
    groups: dict[str, _Tally] = field(default_factory=dict)
    fields: dict[tuple[str, str], _Counts] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)
    failed: list[FailedRecord] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)

    def add(self, record: GoldRecord, prediction: Prediction) -> None:
        """Count one document."""
        answered = prediction.error is None
        if prediction.error is not None:
            error = prediction.error
            self.failed.append(FailedRecord(id=record.id, code=error.code, message=error.message))
        pairs = leaf_pairs(record.expected, prediction.data) if answered else None
        for tally in (self.tally, self.groups.setdefault(record.group, _Tally())):
            tally.add(record.expected, prediction.data, pairs)
        for pair in _missed_leaves(record) if pairs is None else pairs:
            self.total.add(pair)
            self.fields.setdefault((record.group, pair.field), _Counts()).add(pair)
            if answered:
                self.mistakes.extend(_mistakes(record, pair, prediction.probabilities))
        if pairs is not None:
            self.judged.extend(judged_leaves(pairs, prediction.probabilities))


def evaluate(
    records: Sequence[GoldRecord],
    predictions: Mapping[str, Prediction],
    *,
    gold: str,
    model: str | None = None,
) -> EvaluationReport:
    """The figures of `predictions`, by id, against `records`. A record without prediction has failed (`missing`)."""
    counts = _Everything()
    for record in records:
        counts.add(record, predictions.get(record.id) or _absent(record.id))
    known = {record.id for record in records}
    groups = {name: tally.shares() for name, tally in counts.groups.items()}
    return EvaluationReport(
        gold=gold,
        model=model,
        total=counts.total.score("", ""),
        shares=counts.tally.shares(),
        macro=_macro(groups.values()),
        groups=tuple(GroupScore(group=name, shares=shares) for name, shares in groups.items()),
        fields=tuple(each.score(group, name) for (group, name), each in counts.fields.items()),
        confidence=confidence_scores(counts.judged),
        failed=tuple(counts.failed),
        unknown_ids=tuple(id_ for id_ in predictions if id_ not in known),
        mistakes=tuple(counts.mistakes),
    )


def judged_leaves(pairs: Iterable[LeafPair], known: Mapping[str, K]) -> Iterable[tuple[K, bool]]:
    """The features of the given leaves, such as a probability, each with whether the leaf is exactly right.

    A leaf that states nothing is right if the gold data states nothing there.
    """
    for pair in pairs:
        if pair.given_pointer is None or pair.given_pointer not in known:
            continue
        blank = is_blank(pair.given) and is_blank(pair.gold)
        yield known[pair.given_pointer], pair.agreement == "exact" or blank


def is_stated(pointer: str | None, value: JsonValue) -> bool:
    """Whether there is a leaf and it states something."""
    return pointer is not None and not is_blank(value)


def percent(share: float | None) -> str:
    """A share as a percentage, `-` for none."""
    return "-" if share is None else f"{100 * share:.1f}%"


def _absent(id_: str) -> Prediction:
    return Prediction(id_, error=PredictionError("missing", "there is no prediction"))


def _missed_leaves(record: GoldRecord) -> list[LeafPair]:
    return [pair for pair in leaf_pairs(record.expected, {}) if pair.gold_pointer is not None]


def _mistakes(
    record: GoldRecord, pair: LeafPair, probabilities: Mapping[str, float]
) -> Iterable[Mistake]:
    gold, given = is_stated(pair.gold_pointer, pair.gold), is_stated(pair.given_pointer, pair.given)
    if pair.agreement == "exact" or not (gold or given):
        return
    kind: Literal["near", "wrong", "missed", "invented"] = "near"
    if not given:
        kind = "missed"
    elif not gold:
        kind = "invented"
    elif pair.agreement == "none":
        kind = "wrong"
    yield Mistake(
        id=record.id,
        field=pair.field,
        kind=kind,
        expected=pair.gold,
        given=pair.given,
        probability=probabilities.get(pair.given_pointer or ""),
    )


def _macro(groups: Iterable[Shares]) -> Shares:
    found = list(groups)

    def mean(name: str) -> float | None:
        values = [value for each in found if (value := getattr(each, name)) is not None]
        return sum(values) / len(values) if values else None

    return Shares(
        documents=sum(each.documents for each in found),
        answered=sum(each.answered for each in found),
        leaves=sum(each.leaves for each in found),
        at_pointer=mean("at_pointer"),
        aligned=mean("aligned"),
        near=mean("near"),
        blank=mean("blank"),
        whole=mean("whole"),
        whole_near=mean("whole_near"),
    )


def _ratio(right: int, given: int, gold: int) -> Ratio:
    precision, recall = _share(right, given), _share(right, gold)
    return Ratio(precision=precision, recall=recall, f1=_share(2 * right, given + gold))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
