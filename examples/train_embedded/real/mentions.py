"""Named people, places and organisations in passages of the GUM corpus (CC BY), as its annotators marked them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from .records import Record, Stated

_ASKED = {"person": "people|persons|names_of_people|persons_mentioned", "place": "places|locations|places_mentioned", "organization": "organizations|organisations|institutions|companies_mentioned"}  # fmt: skip
_SENTENCES = (2, 7)
_SMALL = frozenset({"of", "the", "de", "van", "von", "der", "and", "for", "&", "-", ".", "la", "du"})
_PRONOUNS = frozenset(
    {"I", "He", "She", "It", "We", "They", "You", "His", "Her", "Its", "Their", "Our", "My", "This", "That", "Who"}
)


def joined(words: list[str]) -> str:
    """Tokens as running text."""
    text = " ".join(words)
    text = re.sub(r" ([,.;:!?%)\]}’”])", r"\1", text)
    text = re.sub(r"([(\[{“‘$£€#]) ", r"\1", text)
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m|’s|’re|’ve|’ll|’d|’m)\b", r"\1", text)
    return re.sub(r'" ([^"]*?) ?"', r'"\1"', text)


def passages(path: str, text: str) -> Iterator[Record]:
    """Some sentences at a time, with the names in them in the order of the text."""
    if "_reddit_" in path or "#Text=" not in text:
        return
    rng = random.Random(path)
    sentences = [block for block in text.split("\n\n") if block.lstrip().startswith("#Text=")]
    while sentences:
        size = rng.randint(*_SENTENCES)
        taken, sentences = sentences[:size], sentences[size:]
        lines: list[str] = []
        names: dict[str, dict[str, None]] = {kind: {} for kind in _ASKED}
        for sentence in taken:
            words = [line.split("\t") for line in sentence.strip().split("\n") if not line.startswith("#")]
            lines.append(joined([word[2] for word in words if len(word) > 6]))
            for kind, name in _named([word for word in words if len(word) > 6]):
                names[kind][name] = None
        document = " ".join(lines)
        if len(document) < 80:
            continue
        found = {kind: [name for name in each if name in document] for kind, each in names.items()}
        if not any(found.values()):
            continue
        fields = tuple(
            Stated(keys, found[kind], "list", "named ones, each once, in the order of the text")
            for kind, keys in _ASKED.items()
        )
        yield Record("gum", document, fields)


def _named(words: list[list[str]]) -> Iterator[tuple[str, str]]:
    """(kind, name) of each mention that is linked to an article and made of capitalised words."""
    spans: dict[str, list[str]] = {}
    linked: set[str] = set()
    for word in words:
        for mark in word[6].split("|"):
            if link := re.search(r"\[(\d+)\]$", mark):
                linked.add(link[1])
        for mark in word[3].split("|"):
            found = re.fullmatch(r"(\w+)\[(\d+)\]", mark)
            if found and found[1] in _ASKED:
                spans.setdefault(f"{found[1]}[{found[2]}]", []).append(word[2])
    for key, tokens in spans.items():
        kind, mention = key[:-1].split("[")
        proper = all(token[:1].isupper() or token in _SMALL for token in tokens)
        if mention in linked and proper and not _PRONOUNS & set(tokens) and len(tokens) < 7:
            yield kind, joined(tokens)
