"""Quick, exact encoding for byte-level BPE: words are cut by `re` and looked up, and only new words are merged.

Does: encode texts with the ids that the library gives, or decline. Does not: merge (the library does), read files, or
know control tokens by name.

A byte-level BPE tokenizer cuts a text into words by a pattern and merges within words only. The library spends nine
tenths of its time on the cut. The pattern is translated to `re` with its character classes written out, which is sound
only where both engines agree on the class of every character: Unicode versions differ. So each row of 256 characters is
compared with the library's engine when a text first uses one of them, and a text with any other character is declined.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any, Final, Self

import tokenizers
from tokenizers import pre_tokenizers

from .split_patterns import translated

MOST_WORDS: Final = 1 << 16
_LONGEST_WORD: Final = 48  # characters; longer ones are not cached
_NON_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_LEVEL: Final = {"add_prefix_space": False, "use_regex": False}


class WordEncoder:
    """The words of one tokenizer and their ids; at most `most` words are remembered. For any thread.

    `library` has the merges. `control` are ids that no text may produce; a text with a word that would is declined.
    `composes`: whether the library brings texts into the composed form (NFC) first.
    """

    def __init__(
        self,
        library: tokenizers.Tokenizer,
        pattern: str,
        control: Iterable[int],
        *,
        composes: bool,
        most: int = MOST_WORDS,
    ) -> None:
        translation = translated(pattern)
        self._split = translation.pattern.findall
        self._folded = pattern.casefold() if "(?i:" in pattern else ""
        self._classes = [
            (
                pre_tokenizers.Split(tokenizers.Regex(theirs), "removed"),
                re.compile(ours),
            )
            for theirs, ours in translation.classes
        ]
        self._core = tokenizers.Tokenizer(library.model)
        self._core.pre_tokenizer = pre_tokenizers.ByteLevel(**_LEVEL)
        self._composes = composes
        self._control = frozenset(control)
        self._most = most
        self._ids: dict[str, tuple[int, ...]] = {}
        self._agreed: set[str] = set()
        self._rows: set[int] = set()
        self._ascii = self._agree(0)

    @classmethod
    def of(
        cls, source: Mapping[str, Any], library: tokenizers.Tokenizer, control: Iterable[int]
    ) -> Self | None:
        """The encoder of a parsed `tokenizer.json`, which `library` has read; None for a tokenizer of another kind."""
        model, stage = source.get("model") or {}, source.get("pre_tokenizer") or {}
        normalizer = source.get("normalizer")
        if model.get("type") != "BPE" or model.get("dropout") or stage.get("type") != "Sequence":
            return None
        if normalizer is not None and normalizer != {"type": "NFC"}:
            return None
        match stage.get("pretokenizers"):
            case [
                {
                    "type": "Split",
                    "pattern": {"Regex": str(pattern)},
                    "behavior": "Isolated",
                    "invert": False,
                },
                {"type": "ByteLevel", **level},
            ] if all(level.get(name) is value for name, value in _LEVEL.items()):
                try:
                    found = cls(library, pattern, control, composes=normalizer is not None)
                except (ValueError, re.error):
                    return None
                return found if found._ascii else None
        return None

    def encode(self, text: str) -> tuple[int, ...] | None:
        """The ids of `text`; None if the library has to encode it."""
        words = self._words(text)
        return None if words is None else self._encoded(words)

    def encode_after(self, head: str, text: str) -> tuple[tuple[int, ...], int] | None:
        """The ids of `head + text`, and how many ids `text` has by itself; None if the library has to encode it."""
        whole, first = self._words(head + text), self._words(head)
        if whole is None or first is None or whole[: len(first)] != first:
            return None
        # No pattern looks back, so the words after a cut are those of the text behind it.
        ids, before = self._encoded(whole), self._encoded(first)
        return None if ids is None or before is None else (ids, len(ids) - len(before))

    def _words(self, text: str) -> list[str] | None:
        if not text.isascii() and not self._is_agreed(text):
            return None
        words = self._split(text)
        return words if len("".join(words)) == len(text) else None

    def _encoded(self, words: list[str]) -> tuple[int, ...] | None:
        known = list(map(self._ids.get, words))
        if None not in known:
            return tuple(chain.from_iterable(known))  # type: ignore[arg-type]  # none is None
        fresh = list({word: None for word, ids in zip(words, known, strict=True) if ids is None})
        learned = self._merged(fresh)
        if learned is None:
            return None
        return tuple(
            chain.from_iterable(
                learned[word] if ids is None else ids
                for word, ids in zip(words, known, strict=True)
            )
        )

    def _merged(self, words: list[str]) -> dict[str, tuple[int, ...]] | None:
        """The ids of new words, which are remembered; None if one of them spells a control token."""
        encoding = self._core.encode(words, is_pretokenized=True, add_special_tokens=False)
        if not self._control.isdisjoint(encoding.ids):
            return None
        parts: list[list[int]] = [[] for _ in words]
        for index, owner in zip(encoding.ids, encoding.word_ids, strict=True):
            if owner is not None:
                parts[owner].append(index)
        learned = {word: tuple(ids) for word, ids in zip(words, parts, strict=True)}
        if len(self._ids) + len(learned) > self._most:
            self._ids.clear()
        if len(learned) <= self._most:
            self._ids.update((w, ids) for w, ids in learned.items() if len(w) <= _LONGEST_WORD)
        return learned

    def _is_agreed(self, text: str) -> bool:
        """Whether both engines cut the text alike, and the normaliser leaves it as it is."""
        characters = set(_NON_ASCII.findall(text))
        if not characters <= self._agreed:
            for row in {ord(character) >> 8 for character in characters} - self._rows:
                self._agree(row)
            if not characters <= self._agreed:
                return False
        return not self._composes or unicodedata.is_normalized("NFC", text)

    def _agree(self, row: int) -> bool:
        """Compare the classes of 256 characters; whether all ASCII characters among them agree."""
        every = [chr(point) for point in range(row << 8, (row + 1) << 8)]
        # An unassigned character may have any class and composition in another version of Unicode.
        usable = [c for c in every if unicodedata.category(c) not in ("Cn", "Cs")]
        text = "".join(usable)
        differ: set[str] = {c for c in usable if not c.isascii() and _may_match(c, self._folded)}
        for theirs, ours in self._classes:
            rest = {
                c for _, (start, stop) in theirs.pre_tokenize_str(text) for c in text[start:stop]
            }
            differ |= {c for c in usable if (c not in rest) != (ours.fullmatch(c) is not None)}
        self._agreed |= set(usable) - differ
        self._rows.add(row)
        return row > 0 or all(chr(point) in self._agreed for point in range(128))


def _may_match(character: str, folded: str) -> bool:
    """Whether a part of a pattern that ignores case may match the character; `folded` is the pattern without case."""
    forms = {character.casefold(), character.lower(), character.upper().casefold()}
    return any(form in folded for form in forms)
