"""How answers are scored: leaf by leaf at their JSON pointers, and against the schema and the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

_FORMATS = Draft202012Validator.FORMAT_CHECKER
_OTHER_WORDS = {"enum", "const", "format", "pattern"}


@dataclass
class Tally:
    """Counts over documents: leaves right, leaves that are null or empty, free strings and those the text states."""

    right: int = 0
    leaves: int = 0
    blank: int = 0
    strings: int = 0
    stated: int = 0
    whole: int = 0
    valid: int = 0
    answered: int = 0
    documents: int = 0

    def add(self, schema: Mapping[str, Any], gold: Any, answer: Any, text: str) -> None:
        """Count one document; `answer` is None where there was none."""
        wanted, given = dict(leaves(gold)), dict(leaves(answer)) if answer is not None else {}
        right = sum(path in given and same(value, given[path]) for path, value in wanted.items())
        self.right += right
        self.leaves += len(wanted)
        self.blank += sum(value is None or value == [] for value in wanted.values())
        self.whole += right == len(wanted) and len(given) == len(wanted)
        self.documents += 1
        if answer is None:
            return
        self.answered += 1
        self.valid += not any(Draft202012Validator(schema, format_checker=_FORMATS).iter_errors(answer))
        said = " ".join(text.split())
        strings = [" ".join(each.split()) for each in free_strings(answer, schema)]
        self.strings += len(strings)
        self.stated += sum(each in said for each in strings)


@dataclass
class Score:
    """Counts over many documents; `kinds` has those of each sort of document."""

    total: Tally = field(default_factory=Tally)
    kinds: dict[str, Tally] = field(default_factory=dict)

    def add(self, kind: str, schema: Mapping[str, Any], gold: Any, answer: Any, text: str) -> None:
        """Count one document; `answer` is None where there was none."""
        for tally in (self.total, self.kinds.setdefault(kind, Tally())):
            tally.add(schema, gold, answer, text)

    @property
    def macro(self) -> float:
        """The mean over the kinds of the share of leaves that are right."""
        return sum(share(each.right, each.leaves) for each in self.kinds.values()) / max(1, len(self.kinds))

    def summary(self) -> str:
        total = self.total
        return (
            f"field accuracy {share(total.right, total.leaves):.4f} ({total.right}/{total.leaves}), "
            f"mean over kinds {self.macro:.4f}, blank {share(total.blank, total.leaves):.4f}, "
            f"whole {share(total.whole, total.documents):.4f}, valid {share(total.valid, total.documents):.4f}, "
            f"stated {share(total.stated, total.strings):.4f}, documents {total.documents}"
        )

    def table(self) -> str:
        """One line a kind, the weakest first."""
        rows = sorted(self.kinds.items(), key=lambda pair: share(pair[1].right, pair[1].leaves))
        return "\n".join(
            f"{kind:<14} {share(each.right, each.leaves):.3f}  {each.right}/{each.leaves}" for kind, each in rows
        )


def share(part: int, whole: int) -> float:
    return part / max(1, whole)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Scalars, empty lists and empty objects, each with its JSON Pointer."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from leaves(part, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from leaves(part, f"{path}/{index}")
    else:
        yield path, value


def free_strings(value: Any, schema: Any) -> Iterator[str]:
    """Strings of an answer that are the document's own words: under no enum, format or pattern."""
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        for key, part in value.items():
            yield from free_strings(part, schema.get("properties", {}).get(key))
    elif isinstance(value, list):
        for part in value:
            yield from free_strings(part, schema.get("items"))
    elif isinstance(value, str) and value.strip() and not _OTHER_WORDS & schema.keys():
        yield value


def same(gold: Any, given: Any) -> bool:
    """Equal as JSON values: 12 equals 12.0, but true is not 1."""
    if isinstance(gold, bool) or isinstance(given, bool):
        return gold is given
    return bool(gold == given)
