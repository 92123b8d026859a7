"""How answers are scored: leaf by leaf at their JSON pointers, and against the schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

_FORMATS = Draft202012Validator.FORMAT_CHECKER


@dataclass
class Score:
    """Counts over many documents; `kinds` holds right and all leaves by sort of document."""

    right: int = 0
    leaves: int = 0
    whole: int = 0
    valid: int = 0
    documents: int = 0
    kinds: dict[str, list[int]] = field(default_factory=dict)

    def add(self, kind: str, schema: Mapping[str, Any], gold: Any, answer: Any) -> None:
        """Count one document; `answer` is None where there was none."""
        wanted, given = dict(leaves(gold)), dict(leaves(answer)) if answer is not None else {}
        right = sum(path in given and same(value, given[path]) for path, value in wanted.items())
        self.right += right
        self.leaves += len(wanted)
        self.whole += right == len(wanted) and len(given) == len(wanted)
        self.valid += answer is not None and not any(
            Draft202012Validator(schema, format_checker=_FORMATS).iter_errors(answer)
        )
        self.documents += 1
        counts = self.kinds.setdefault(kind, [0, 0])
        counts[0] += right
        counts[1] += len(wanted)

    def summary(self) -> str:
        return (
            f"field accuracy {self.right / max(1, self.leaves):.4f} ({self.right}/{self.leaves}), "
            f"whole {self.whole / max(1, self.documents):.4f}, "
            f"valid {self.valid / max(1, self.documents):.4f}, documents {self.documents}"
        )

    def table(self) -> str:
        """One line a kind, the weakest first."""
        rows = sorted(self.kinds.items(), key=lambda pair: pair[1][0] / max(1, pair[1][1]))
        return "\n".join(f"{kind:<14} {right / max(1, all_):.3f}  {right}/{all_}" for kind, (right, all_) in rows)


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


def same(gold: Any, given: Any) -> bool:
    """Equal as JSON values: 12 equals 12.0, but true is not 1."""
    if isinstance(gold, bool) or isinstance(given, bool):
        return gold is given
    return bool(gold == given)
