"""Keep training text apart from evaluation documents: no text that shares eight words in a row with one of them.

Does: remember the runs of words of JSONL records with a `text`, and judge a text. Does not: look at answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

RUN = 8
_WORD = re.compile(r"\w+")


def runs(text: str) -> set[str]:
    """All runs of `RUN` words, in small letters and without punctuation."""
    words = _WORD.findall(text.lower())
    return {" ".join(words[start : start + RUN]) for start in range(len(words) - RUN + 1)}


@dataclass(frozen=True)
class Apart:
    """What evaluation documents say."""

    known: frozenset[str]

    @classmethod
    def of(cls, files: Iterable[Path]) -> Apart:
        found: set[str] = set()
        for file in files:
            for line in file.read_text(encoding="utf-8").splitlines():
                found |= runs(json.loads(line)["text"])
        return cls(frozenset(found))

    def keeps(self, text: str) -> bool:
        """Whether `text` shares no run of words with an evaluation document."""
        return not self.known or self.known.isdisjoint(runs(text))
