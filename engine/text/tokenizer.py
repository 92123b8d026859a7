"""The tokenizer of a model folder: text to token ids, token ids to bytes.

Does: load `tokenizer.json`, Tekken or tiktoken files, encode text without producing control tokens, and give the bytes
of every id. Does not: render chat templates (`chat`) or decode streams (`detokenize`).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import tokenizers
from intaglio.grammar.api import Vocabulary

from ..errors import ModelError
from .alphabet import speller, stages
from .prompt_frame import PromptFrame
from .ranks import rank_file, tekken_source, tiktoken_source
from .words import WordEncoder

_LONG: Final = 1 << 14  # characters

# Marks that models write as one token, before and after calls of tools and reasoning. Some tokenizers call them control
# tokens; in outputs they are text all the same, so that a grammar can require them.
_MARKS: Final = frozenset(
    {
        *("<tool_call>", "</tool_call>", "[TOOL_CALLS]", "[ARGS]"),
        *("<think>", "</think>", "[THINK]", "[/THINK]"),
    }
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a prompt. Only `trusted` text may spell control tokens."""

    text: str
    trusted: bool


class Tokenizer:
    """The tokenizer of one model.

    `source` is the parsed `tokenizer.json`; `end_ids` the ids that end an output, at least one.

    Raises:
        ModelError: the tokens of this kind of tokenizer have no exact bytes, or there is no end token.
    """

    def __init__(self, source: Mapping[str, Any], end_ids: Sequence[int]) -> None:
        self._source = source
        added = source.get("added_tokens") or []
        self._added = {str(token["content"]): int(token["id"]) for token in added}
        self._control = {int(token["id"]) for token in added if token.get("special")}
        self._control |= set(end_ids)
        self._unknown = _unknown(source)
        self._splitter = _splitter(added)
        marks = [token for token in added if str(token["content"]) in _MARKS]
        self._marks = _splitter([{"content": token["content"]} for token in marks])
        unknown = () if self._unknown is None else (self._unknown,)
        try:
            # Without its added tokens, a tokenizer can read `<|end|>` only as characters.
            self._plain = _core({**source, "added_tokens": []})
            self._words = WordEncoder.of(source, self._plain, {*self._control, *unknown})
            # A tokenizer that is cut into words quickly prepends no blank.
            self._inner = (
                _core(_without_prefix({**source, "added_tokens": []}))
                if self._words is None
                else self._plain
            )
        except ValueError as error:
            raise ModelError(f"the tokenizer cannot be loaded: {error}") from error
        if not end_ids:
            raise ModelError(
                "the model has no end token",
                hint="set eos_token_id in generation_config.json or eos_token in tokenizer_config.json",
            )
        self.end_ids = tuple(dict.fromkeys(end_ids))

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Read the tokenizer's file and, for the end ids, the configurations in its folder.

        Raises:
            ModelError: a file is missing or invalid.
        """
        source = _read_json(folder / "tokenizer.json")
        if source is None and (tekken := _read_json(folder / "tekken.json")) is not None:
            source = tekken_source(folder / "tekken.json", tekken)
            return cls(source, _end_ids(folder, source) or _named(source, "</s>"))
        if source is None and (ranks := rank_file(folder)) is not None:
            config = _read_json(folder / "tokenizer_config.json") or {}
            family = (_read_json(folder / "config.json") or {}).get("model_type")
            source = tiktoken_source(ranks, config, str(family))
        if source is None:
            raise ModelError(
                "the model folder has no tokenizer.json, tekken.json or tiktoken file",
                where=str(folder),
                hint="convert a SentencePiece tokenizer.model to tokenizer.json first",
            )
        return cls(source, _end_ids(folder, source))

    @property
    def size(self) -> int:
        """The number of ids: the greatest one plus one."""
        return len(self._pieces)

    def id_of(self, token: str) -> int | None:
        """The id of a token by its spelling in the tokenizer's own alphabet, control tokens included."""
        # Ids as in the file: the library renumbers added tokens that do not come last.
        found = self._added.get(token)
        return self._plain.token_to_id(token) if found is None else found

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of `text` as a whole prompt. No text produces a control token."""
        return self._encode(self._plain, text)

    def encode_after(self, head: str, text: str, *, inner: bool) -> tuple[tuple[int, ...], int]:
        """Ids of `head + text` between control tokens, and the number of ids that `text` has as a whole prompt.

        `inner`: whether a control token precedes `head`.
        """
        if self._words is not None and len(text) < _LONG:
            found = self._words.encode_after(head, text)
            if found is not None:
                return found
        return self.encode_run(head + text, inner=inner), len(self.encode(text))

    def encode_pieces(self, pieces: Iterable[Piece]) -> tuple[int, ...]:
        """Ids of a prompt made of trusted and untrusted text.

        Control tokens are recognised in trusted text only. The text between control tokens is encoded at once, trusted
        or not, so that words merge across the boundaries of pieces as in the training data of the model.
        """
        return self._joined(_runs(pieces, self._splitter, self._added))

    def frame(self, before: Iterable[Piece], after: Iterable[Piece]) -> PromptFrame:
        """The frame of the prompts that have any untrusted text between these pieces."""
        opening, closing = (
            _runs(before, self._splitter, self._added),
            _runs(after, self._splitter, self._added),
        )
        head = opening.pop() if opening and isinstance(opening[-1], str) else ""
        tail = closing.pop(0) if closing and isinstance(closing[0], str) else ""
        assert isinstance(head, str)
        assert isinstance(tail, str)
        return PromptFrame(self._joined(opening), head, tail, self._joined(closing, inner=True))

    def _joined(self, runs: Iterable[str | int], *, inner: bool = False) -> tuple[int, ...]:
        """The ids of what `_runs` found; `inner` if other tokens come before it."""
        ids: list[int] = []
        for run in runs:
            if isinstance(run, int):
                ids.append(run)
            else:
                ids += self.encode_run(run, inner=inner or bool(ids))
        return tuple(ids)

    def canonical(self, text: bytes) -> tuple[int, ...]:
        """The tokens of `text` in the middle of an output; empty if `text` is not UTF-8."""
        try:
            whole = text.decode()
        except UnicodeDecodeError:
            return ()
        if self._marks is None or self._marks.search(whole) is None:  # the usual case
            return self.encode_run(whole, inner=True)
        runs = _runs([Piece(whole, trusted=True)], self._marks, self._added)
        return self._joined(runs, inner=True)

    def vocabulary(self, width: int | None = None) -> Vocabulary:
        """The bytes of every token, for a model with `width` logits (default: the number of ids).

        Raises:
            ModelError: the model has fewer logits than the tokenizer has ids.
        """
        if width is not None and width < self.size:
            raise ModelError(f"the tokenizer has {self.size} ids but the model only {width} logits")
        return Vocabulary(self._pieces, self.end_ids, width or self.size)

    @cached_property
    def _pieces(self) -> tuple[bytes | None, ...]:
        entries = {**self._plain.get_vocab(), **self._added}
        spell = speller(self._source)
        pieces: list[bytes | None] = [None] * (
            max([*entries.values(), *self._added.values(), *self.end_ids]) + 1
        )
        for token, index in entries.items():
            spoken = token in _MARKS and index not in self.end_ids
            if (index not in self._control or spoken) and index != self._unknown:
                pieces[index] = spell(token, token in self._added) or None
        return tuple(pieces)

    def encode_run(self, text: str, *, inner: bool) -> tuple[int, ...]:
        """Ids of the text between two control tokens; `inner` if a token comes before it."""
        return self._encode(self._inner if inner else self._plain, text) if text else ()

    def _encode(self, core: tokenizers.Tokenizer, text: str) -> tuple[int, ...]:
        if self._words is not None and len(text) < _LONG:
            known = self._words.encode(text)
            if known is not None:
                return known
        return self._encode_by_library(core, text)

    def _encode_by_library(self, core: tokenizers.Tokenizer, text: str) -> tuple[int, ...]:
        encoding = _encoded(core, text)
        ids = tuple(encoding.ids)
        if self._control.isdisjoint(ids):
            return ids
        cuts, offsets = [0], encoding.offsets
        for index, token in enumerate(ids):
            if token in self._control:
                start, stop = offsets[index]
                if token == self._unknown and text[start:stop] not in self._added:
                    continue  # a character that is not in the vocabulary
                # Some models have control tokens in the base vocabulary too: split their spelling.
                if stop - start < 2:
                    raise ModelError(f"the tokenizer reads plain text as control token {token}")
                cuts.append(start + 1)
        if len(cuts) == 1:
            return ids
        first, *rest = [text[at:end] for at, end in pairwise((*cuts, len(text)))]
        parts = [self._encode(core, first), *(self._encode(self._inner, part) for part in rest)]
        return tuple(chain.from_iterable(parts))


def _runs(
    pieces: Iterable[Piece], splitter: re.Pattern[str] | None, added: Mapping[str, int]
) -> list[str | int]:
    """The ids of added tokens that `splitter` finds in trusted text, and the non-empty texts between them."""
    found: list[str | int] = []
    run = ""
    for piece in pieces:
        if not piece.trusted or splitter is None:
            run += piece.text
            continue
        start = 0
        for match in splitter.finditer(piece.text):
            run += piece.text[start : match.start()]
            token = match.group()
            found += [run] if run else []
            found.append(added[token if token in added else token.strip()])
            run, start = "", match.end()
        run += piece.text[start:]
    return [*found, run] if run else found


def _encoded(core: tokenizers.Tokenizer, text: str) -> tokenizers.Encoding:
    """`text` encoded. A long one is encoded as a batch, which releases the interpreter lock for other threads."""
    if len(text) < _LONG:
        return core.encode(text, add_special_tokens=False)
    found: tokenizers.Encoding = core.encode_batch([text], add_special_tokens=False)[0]
    return found


def _core(source: Mapping[str, Any]) -> tokenizers.Tokenizer:
    try:
        core = tokenizers.Tokenizer.from_str(json.dumps(source))
    except Exception as error:
        raise ValueError(str(error)) from error
    core.no_padding()
    core.no_truncation()
    return core


def _splitter(added: Sequence[Mapping[str, Any]]) -> re.Pattern[str] | None:
    """A pattern for added tokens, the longest first, with the whitespace that some of them absorb."""
    parts = [
        (r"\s*" if token.get("lstrip") else "")
        + re.escape(str(token["content"]))
        + (r"\s*" if token.get("rstrip") else "")
        for token in sorted(added, key=lambda token: -len(str(token["content"])))
    ]
    return re.compile("|".join(parts)) if parts else None


def _without_prefix(source: Mapping[str, Any]) -> dict[str, Any]:
    """The same tokenizer, for text in the middle of an output: it prepends no blank."""
    copy: dict[str, Any] = json.loads(json.dumps(source))
    for stage in stages(copy.get("pre_tokenizer")) + stages(copy.get("normalizer")):
        if "prepend_scheme" in stage:
            stage["prepend_scheme"] = "never"
        if "add_prefix_space" in stage:
            stage["add_prefix_space"] = False
        if stage["type"] == "Prepend":
            stage["prepend"] = ""
    return copy


def _unknown(source: Mapping[str, Any]) -> int | None:
    """The id of the token for characters that are not in the vocabulary. This token has no bytes."""
    model = source.get("model")
    if not isinstance(model, dict):
        return None
    if model.get("type") == "Unigram":
        index = model.get("unk_id")
        return None if index is None else int(index)
    name, vocabulary = model.get("unk_token"), model.get("vocab")
    return vocabulary.get(name) if name is not None and isinstance(vocabulary, dict) else None


def _named(source: Mapping[str, Any], name: str) -> tuple[int, ...]:
    return tuple(int(t["id"]) for t in source.get("added_tokens") or [] if t["content"] == name)


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ModelError(f"{path.name} cannot be read: {error}", where=str(path)) from error
    if not isinstance(value, dict):
        raise ModelError(f"{path.name} is not a JSON object", where=str(path))
    return value


def _end_ids(folder: Path, source: Mapping[str, Any]) -> tuple[int, ...]:
    """All end-of-sequence ids of the configurations, those of `generation_config.json` first."""
    found: list[int] = []
    for name in ("generation_config.json", "config.json"):
        ids = (_read_json(folder / name) or {}).get("eos_token_id")
        found += _ids(ids if isinstance(ids, list) else [] if ids is None else [ids], name)
    token = (_read_json(folder / "tokenizer_config.json") or {}).get("eos_token")
    text = token.get("content") if isinstance(token, dict) else token
    if text is not None:
        ids = _named(source, text)
        if not ids:
            raise ModelError(
                f"eos_token {text!r} is not an added token", where="tokenizer_config.json"
            )
        found += ids
    return tuple(dict.fromkeys(found))


def _ids(values: list[Any], name: str) -> list[int]:
    if not all(type(value) is int and value >= 0 for value in values):
        raise ModelError(f"eos_token_id must be token ids, not {values!r}", where=name)
    return values
