"""The tokens that the service's grammar allows at each place of a training answer.

The constraint is the one of an extraction: compact JSON, keys in the order of the schema, short numbers. Where the grammar
forces a text, the engine appends its tokens without asking the model, so these places are `FORCED`; elsewhere a
place has the packed mask of its legal tokens. Does not: decide which documents get masks (`feed`), or compute the loss
(`train`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import CompiledGrammar, Compiler, Constraint, GrammarError, Kind, Matcher, empty_rows
from numpy.typing import NDArray

ANY: Final = 0
"""The row of a place without a mask: every token is allowed."""
FORCED: Final = -1
"""Instead of a row: the grammar leaves one token, which the model is never asked for."""
_FORCED: Final = b""
_MOST_KNOWN: Final = 20_000  # masks of 1 KiB
_BETWEEN_SHRINKS: Final = 500  # documents


@dataclass(frozen=True)
class Masks:
    """The masks of a batch. `rows` [masks, vocabulary / 8]: a bit for each token, the lowest first; row `ANY` allows all.

    `places` [rows, length]: for each token of the batch the row of its mask, or `FORCED`. `documents`: how many
    have masks; `refused`: how many should have, but their answer breaks their schema.
    """

    rows: NDArray[np.uint8]
    places: NDArray[np.int32]
    documents: int
    refused: int


class Grammars:
    """Finds the legal tokens of answers. One for each worker; counts the documents that it refuses."""

    def __init__(self, tokenizer: Path, end: int) -> None:
        source = Tokenizer(json.loads(tokenizer.read_text()), (end,))
        self._vocabulary = source.vocabulary()
        self._compiler = Compiler(self._vocabulary, source.canonical)
        self._known: dict[bytes, bytes] = {}
        self._row = empty_rows(1, self._vocabulary.width)[0]
        self._compiled = 0
        self._refused = 0

    def masks_of(self, schema: dict[str, Any], answer: list[int]) -> list[bytes] | None:
        """The packed mask of each token of `answer`, empty where it is forced; None, and counted, if one is illegal."""
        try:
            return self.legal(schema, answer)
        except GrammarError:
            self._refused += 1
            return None

    def legal(self, schema: dict[str, Any], answer: list[int]) -> list[bytes]:
        """As `masks_of`. Raises GrammarError where the schema cannot be compiled or the answer breaks it."""
        matcher = self.compiled(schema).matcher()
        found: list[bytes] = []
        while len(found) < len(answer):
            run = _forced(matcher, answer[len(found) :])
            for token in run:
                matcher.accept(token)
            found += [_FORCED] * len(run)
            if not run:
                matcher.fill(self._row)
                packed = self._row.tobytes()
                found.append(self._known.setdefault(packed, packed))
                matcher.accept(answer[len(found) - 1])
        self._tidy()
        return found

    def compiled(self, schema: dict[str, Any]) -> CompiledGrammar:
        """The grammar of a schema's answers. Raises GrammarError."""
        return self._compiler.compile(constraint_of(schema))

    def joined(self, documents: list[list[bytes] | None], starts: list[int], length: int) -> Masks | None:
        """The masks of a batch with rows of `length` tokens; None if no document has masks and none was refused.

        `documents`: the masks of each document's answer, or None; the answer begins at the token of `starts`. Tells the
        number of documents refused since the last call.
        """
        masked = sum(masks is not None for masks in documents)
        refused, self._refused = self._refused, 0
        if not masked and not refused:
            return None
        numbers = {b"\xff" * self._row.nbytes: ANY, _FORCED: FORCED}
        places = np.full((len(documents), length), ANY, np.int32)
        for place, masks, start in zip(places, documents, starts, strict=True):
            if masks is not None:
                found = [numbers.setdefault(mask, len(numbers) - 1) for mask in masks]
                place[start : start + len(found)] = found
        packed = b"".join(numbers)  # in the order of the numbers: what is forced has no bytes
        rows = np.frombuffer(packed, np.uint8).reshape(-1, self._row.nbytes)
        return Masks(rows.copy(), places, masked, refused)

    def _tidy(self) -> None:
        """Keep the memory of a worker bounded."""
        self._compiled += 1
        if self._compiled % _BETWEEN_SHRINKS == 0:
            self._compiler.shared()
        if len(self._known) > _MOST_KNOWN:
            self._known.clear()


def constraint_of(schema: dict[str, Any]) -> Constraint:
    """The constraint of an extraction with default options."""
    source = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return Constraint(Kind.JSON_SCHEMA, source, extra_properties=False, short_numbers=True)


def _forced(matcher: Matcher, rest: list[int]) -> tuple[int, ...]:
    """The forced tokens here, if the answer is spelled with them."""
    run = matcher.forced()
    return run if run == tuple(rest[: len(run)]) else ()
