"""Text to token ids and token ids to bytes, for one model folder.

Does: load `tokenizer.json`, encode text so that no control token can come out of it, say what bytes every id stands
for. Does not: render chat templates (`chat`) or decode streams (`detokenize`).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import tokenizers

from ...grammar.api import Vocabulary
from ..errors import ModelError


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a prompt. Only in `trusted` text may a control token be spelled."""

    text: str
    trusted: bool


class Tokenizer:
    """The tokenizer of one model.

    `source` is the parsed `tokenizer.json`; `end_ids` the ids that end an output, at least one.

    Raises:
        ModelError: the tokenizer is of a kind whose tokens cannot be told as bytes, or has no end token.
    """

    def __init__(self, source: Mapping[str, Any], end_ids: Sequence[int]) -> None:
        self._source = source
        added = source.get("added_tokens") or []
        self._added = {str(token["content"]): int(token["id"]) for token in added}
        self._control = {int(token["id"]) for token in added if token.get("special")}
        self._control |= set(end_ids)
        self._splitter = _splitter(added)
        try:
            self._whole = _core(source)
            # Without its added tokens, a tokenizer has no way to read `<|end|>` as anything but characters.
            self._plain = _core({**source, "added_tokens": []})
            self._inner = _core(_without_prefix({**source, "added_tokens": []}))
        except ValueError as error:
            raise ModelError(f"the tokenizer cannot be loaded: {error}") from error
        if not end_ids:
            raise ModelError(
                "the model names no end token",
                hint="set eos_token_id in generation_config.json or eos_token in tokenizer_config.json",
            )
        self.end_ids = tuple(dict.fromkeys(end_ids))

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """Read `tokenizer.json` and, for the end ids, the configurations beside it.

        Raises:
            ModelError: a file is missing or is not what it should be.
        """
        source = _read_json(folder / "tokenizer.json")
        if source is None:
            raise ModelError("the model folder has no tokenizer.json", where=str(folder))
        return cls(source, _end_ids(folder, source))

    @property
    def size(self) -> int:
        """Number of ids: one more than the greatest."""
        return len(self._pieces)

    def id_of(self, token: str) -> int | None:
        """The id of a token by its spelling in the tokenizer's own alphabet, control tokens included."""
        found = self._whole.token_to_id(token)
        return None if found is None else int(found)

    def encode(self, text: str) -> tuple[int, ...]:
        """Ids of `text` as a prompt of its own. Whatever it says, no control token comes out."""
        return self._encode(self._plain, text)

    def encode_pieces(self, pieces: Iterable[Piece]) -> tuple[int, ...]:
        """Ids of a prompt made of trusted and untrusted text.

        Control tokens are recognised in trusted text only. What lies between them is encoded in one go whoever wrote
        it, so that words merge across the seams just as the model has seen them.
        """
        ids: list[int] = []
        run = ""
        for piece in pieces:
            if not piece.trusted or self._splitter is None:
                run += piece.text
                continue
            start = 0
            for match in self._splitter.finditer(piece.text):
                ids += self._run(run + piece.text[start : match.start()], bool(ids))
                token = match.group()
                ids.append(self._added[token if token in self._added else token.strip()])
                run, start = "", match.end()
            run += piece.text[start:]
        return (*ids, *self._run(run, bool(ids)))

    def canonical(self, text: bytes) -> tuple[int, ...]:
        """How this tokenizer spells `text` in the middle of an output; empty where `text` is not UTF-8."""
        try:
            return self._encode(self._inner, text.decode())
        except UnicodeDecodeError:
            return ()

    def vocabulary(self, width: int | None = None) -> Vocabulary:
        """The bytes of every token, for a model with `width` logits (default: as many as there are ids).

        Raises:
            ModelError: the model has fewer logits than the tokenizer has ids.
        """
        if width is not None and width < self.size:
            raise ModelError(f"the tokenizer has {self.size} ids but the model only {width} logits")
        return Vocabulary(self._pieces, self.end_ids, width or self.size)

    @cached_property
    def _pieces(self) -> tuple[bytes | None, ...]:
        entries = self._whole.get_vocab(with_added_tokens=True)
        spell = _speller(self._source)
        pieces: list[bytes | None] = [None] * (
            max([*entries.values(), *self._added.values(), *self.end_ids]) + 1
        )
        for token, index in entries.items():
            if index not in self._control:
                pieces[index] = (token.encode() if token in self._added else spell(token)) or None
        return tuple(pieces)

    def _run(self, text: str, inner: bool) -> tuple[int, ...]:
        return self._encode(self._inner if inner else self._plain, text) if text else ()

    def _encode(self, core: tokenizers.Tokenizer, text: str) -> tuple[int, ...]:
        encoding = core.encode(text, add_special_tokens=False)
        ids = tuple(encoding.ids)
        for index, token in enumerate(ids):
            if token in self._control:
                # Some models keep control tokens in the base vocabulary too: break their spelling apart.
                start, stop = encoding.offsets[index]
                cut = start + 1
                if stop - start < 2:
                    raise ModelError(f"the tokenizer reads plain text as control token {token}")
                return self._encode(core, text[:cut]) + self._encode(self._inner, text[cut:])
        return ids


def _core(source: Mapping[str, Any]) -> tokenizers.Tokenizer:
    try:
        core = tokenizers.Tokenizer.from_str(json.dumps(source))
    except Exception as error:
        raise ValueError(str(error)) from error
    core.no_padding()
    core.no_truncation()
    return core


def _splitter(added: Sequence[Mapping[str, Any]]) -> re.Pattern[str] | None:
    """A pattern for added tokens, the longest first, with the blanks that some of them swallow."""
    parts = [
        (r"\s*" if token.get("lstrip") else "")
        + re.escape(str(token["content"]))
        + (r"\s*" if token.get("rstrip") else "")
        for token in sorted(added, key=lambda token: -len(str(token["content"])))
    ]
    return re.compile("|".join(parts)) if parts else None


def _stages(stage: Any) -> list[dict[str, Any]]:
    """A normalizer, pre-tokenizer or decoder of `tokenizer.json` as the flat list of its stages."""
    if not stage:
        return []
    for key in ("pretokenizers", "normalizers", "decoders"):
        if key in stage:
            return [inner for part in stage[key] for inner in _stages(part)]
    return [stage]


def _without_prefix(source: Mapping[str, Any]) -> dict[str, Any]:
    """The same tokenizer, for text in the middle: it puts no blank in front."""
    copy: dict[str, Any] = json.loads(json.dumps(source))
    for stage in _stages(copy.get("pre_tokenizer")) + _stages(copy.get("normalizer")):
        if "prepend_scheme" in stage:
            stage["prepend_scheme"] = "never"
        if "add_prefix_space" in stage:
            stage["add_prefix_space"] = False
        if stage["type"] == "Prepend":
            stage["prepend"] = ""
    return copy


def _speller(source: Mapping[str, Any]) -> Any:
    kinds = {stage["type"] for stage in _stages(source.get("decoder"))}
    if "ByteLevel" in kinds:
        table = _byte_level_table()
        return lambda token: _byte_level(token, table)
    if kinds & {"ByteFallback", "Metaspace"}:
        return _sentencepiece
    raise ModelError(
        "the tokenizer is neither byte-level nor SentencePiece-like, so its tokens have no exact bytes",
        where="tokenizer.json: decoder",
        hint="use a model with a byte-level BPE or SentencePiece tokenizer",
    )


def _byte_level_table() -> dict[str, int]:
    """The byte-level alphabet of GPT-2: printable Latin-1 stands for itself, the rest is moved past U+0100."""
    kept = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in set(kept)]
    return {chr(b): b for b in kept} | {chr(0x100 + i): b for i, b in enumerate(moved)}


def _byte_level(token: str, table: Mapping[str, int]) -> bytes:
    try:
        return bytes(table[char] for char in token)
    except KeyError:
        return token.encode()  # not in the byte alphabet, so it was put in as plain text


def _sentencepiece(token: str) -> bytes:
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        return bytes([int(token[3:5], 16)])
    return token.replace("\u2581", " ").encode()


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
    """Every id that one of the configurations calls an end of sequence, those of generation first."""
    found: list[int] = []
    for name in ("generation_config.json", "config.json"):
        ids = (_read_json(folder / name) or {}).get("eos_token_id")
        found += ids if isinstance(ids, list) else [] if ids is None else [ids]
    token = (_read_json(folder / "tokenizer_config.json") or {}).get("eos_token")
    text = token.get("content") if isinstance(token, dict) else token
    if text is not None:
        ids = [int(t["id"]) for t in source.get("added_tokens") or [] if t["content"] == text]
        if not ids:
            raise ModelError(
                f"eos_token {text!r} is not an added token", where="tokenizer_config.json"
            )
        found += ids
    return tuple(dict.fromkeys(int(index) for index in found))
