"""Tokens of a source in another schema language, with their lines; and the error that names one.

Does: cut a text into tokens by a pattern, and take them one by one. Does not: know a language (`typescript`,
`protobuf`, `sql`).
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class SourceError(ValueError):
    """A source that cannot be translated: the line, the reason, and how to fix it."""

    def __init__(self, line: int, reason: str, hint: str = "") -> None:
        super().__init__(f"line {line}: {reason}")
        self.hint = hint


def chosen_part(name: str | None, kind: str, known: Collection[str], roots: Collection[str]) -> str:
    """The part of a source to translate: the one called `name`, else the only one of `roots`.

    `kind` is the language's word for such a part. `roots` are the parts that no other part uses.

    Raises:
        SourceError: the source has no part of this `name` or none at all, or its only root cannot be told.
    """
    if not known:
        hint = "is it the right file, and the right language?"
        raise SourceError(1, f"the source has no {kind} to translate", hint)
    if name is None:
        found = list(roots or known)
        if len(found) > 1:
            reason = f"the source has {len(found)} {kind}s to choose from: {', '.join(found)}"
            raise SourceError(1, reason, "name the one to translate (--name)")
        return found[0]
    if name not in known:
        raise SourceError(1, f"there is no {kind} {name!r}", f"there are: {', '.join(known)}")
    return name


def unused(parts: Mapping[str, Any]) -> list[str]:
    """The names of the schemas that no other one of `parts` refers to."""
    return [
        name
        for name in parts
        if not any(
            f"'#/$defs/{name}'" in str(part) for other, part in parts.items() if other != name
        )
    ]


@dataclass(frozen=True, slots=True)
class Word:
    """One token. `kind`: the name of the group of the pattern that matched, or `end`."""

    kind: str
    text: str
    line: int


class Words:
    """The tokens of a source, without those of the kinds `space` and `comment`; for comments see `comment_at`."""

    def __init__(self, source: str, pattern: "re.Pattern[str]") -> None:
        """Raises SourceError for text that is not a token."""
        self._words: list[Word] = []
        self._comments: dict[
            tuple[int, bool], str
        ] = {}  # by last line, and whether a token precedes it there
        self._at = 0
        at, line = int(source.startswith("\ufeff")), 1  # after a byte order mark
        while at < len(source):
            found = pattern.match(source, at)
            if found is None:
                raise SourceError(line, f"{source[at : at + 20]!r} is not understood")
            kind, text = found.lastgroup or "", found.group()
            if kind == "comment":
                trails = bool(self._words) and self._words[-1].line == line
                self._comments[line + text.count("\n"), trails] = _comment(text)
            elif kind != "space":
                self._words.append(Word(kind, text, line))
            line += text.count("\n")
            at = found.end()
        self._words.append(Word("end", "", line))

    @property
    def here(self) -> Word:
        """The next token."""
        return self._words[self._at]

    @property
    def ahead(self) -> Word:
        """The token after the next one."""
        return self.at(1)

    def at(self, distance: int) -> Word:
        """The token so many tokens after the next one."""
        return self._words[min(self._at + distance, len(self._words) - 1)]

    def take(self) -> Word:
        """Take the next token."""
        word = self.here
        self._at = min(self._at + 1, len(self._words) - 1)
        return word

    def skip(self, *texts: str) -> bool:
        """Take the next tokens if they equal these, ignoring case; returns whether they did."""
        ahead = self._words[self._at : self._at + len(texts)]
        if [word.text.lower() for word in ahead] != [text.lower() for text in texts]:
            return False
        self._at += len(texts)
        return True

    def expect(self, text: str) -> Word:
        """Take the next token, which must be this one. Raises SourceError."""
        if self.here.text.lower() != text.lower():
            found = repr(self.here.text) if self.here.text else "the end"
            raise SourceError(self.here.line, f"expected {text!r}, not {found}")
        return self.take()

    def name(self) -> str:
        """Take the next token, which must be a name. Raises SourceError."""
        if self.here.kind not in ("name", "quoted"):
            raise SourceError(self.here.line, f"expected a name, not {self.here.text!r}")
        return unquoted(self.take().text)

    def comment_at(self, line: int) -> str:
        """The comment about a line, which one caller gets: on lines of its own before, or at the end; else empty."""
        return self._comments.pop((line - 1, False), "") or self._comments.pop((line, True), "")

    def skip_block(self, opening: str, closing: str) -> None:
        """Take all tokens from an opening one to its closing one."""
        self.expect(opening)
        depth = 1
        while depth:
            word = self.take()
            if word.kind == "end":
                raise SourceError(word.line, f"a {opening!r} without its {closing!r}")
            depth += (word.text == opening) - (word.text == closing)


def unquoted(text: str) -> str:
    """The content of a quoted token; other tokens as they are."""
    if text[:1] in "\"'`" and len(text) > 1:
        inner = text[1:-1]
        return inner.replace(text[0] * 2, text[0]).replace("\\" + text[0], text[0])
    return text


def each_as(names: Iterable[str], schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Several names of the same type."""
    return {name: dict(schema) for name in names}


def _comment(text: str) -> str:
    lines = text.removeprefix("/*").removesuffix("*/").split("\n")
    return " ".join(line.strip(" \t\r*/-#") for line in lines).strip()
