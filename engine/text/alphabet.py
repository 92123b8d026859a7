"""The bytes of the tokens of a `tokenizer.json`.

Does: read its decoder and spell single tokens by it. Does not: tokenize (`tokenizer`), or process whole texts: some
decoders strip a blank from the beginning of a text; outputs begin within a text, where the blank counts.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from ..errors import ModelError

_BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_WHOLE_TEXT: Final = {"Fuse", "Strip"}  # stages that apply to whole texts


def stages(stage: Any) -> list[dict[str, Any]]:
    """A normalizer, pre-tokenizer or decoder of `tokenizer.json` as the flat list of its stages."""
    if not stage:
        return []
    for key in ("pretokenizers", "normalizers", "decoders"):
        if key in stage:
            return [inner for part in stage[key] for inner in stages(part)]
    return [stage]


@cache
def byte_level_alphabet() -> tuple[str, ...]:
    """The letter of each byte in byte-level BPE: printable Latin-1 represents itself, the rest moves past U+0100."""
    kept = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = iter(range(0x100, 0x200))
    return tuple(chr(byte if byte in kept else next(moved)) for byte in range(256))


def speller(source: Mapping[str, Any]) -> Callable[[str, bool], bytes]:
    """The function from a token's spelling in `tokenizer.json`, and whether it is an added token, to its bytes.

    Raises:
        ModelError: tokens of this kind of tokenizer have no exact bytes.
    """
    decoder = stages(source.get("decoder"))
    kinds = {stage["type"] for stage in decoder}
    if kinds - _WHOLE_TEXT == {"ByteLevel"}:
        table = {letter: byte for byte, letter in enumerate(byte_level_alphabet())}
        return lambda token, added: token.encode() if added else _byte_level(token, table)
    replaced = []
    for stage in decoder:
        if stage["type"] == "Replace" and "String" in stage["pattern"]:
            replaced.append((stage["pattern"]["String"], stage["content"]))
        elif stage["type"] == "Metaspace":
            replaced.append((stage.get("replacement", "\u2581"), " "))
        elif stage["type"] != "ByteFallback" and stage["type"] not in _WHOLE_TEXT:
            raise _inexact(stage["type"])
    if not replaced and "ByteFallback" not in kinds:
        raise _inexact("none")
    return lambda token, _added: _pieces(token, replaced, bytes_="ByteFallback" in kinds)


def _inexact(kind: str) -> ModelError:
    return ModelError(
        "the tokenizer is neither byte-level nor SentencePiece-like, so its tokens have no exact bytes",
        where=f"tokenizer.json: decoder {kind}",
        hint="use a model with a byte-level BPE, SentencePiece, tiktoken or Tekken tokenizer",
    )


def _byte_level(token: str, table: Mapping[str, int]) -> bytes:
    try:
        return bytes(table[char] for char in token)
    except KeyError:
        return token.encode()  # not in the byte alphabet: a token added as plain text


def _pieces(token: str, replaced: list[tuple[str, str]], *, bytes_: bool) -> bytes:
    byte = _BYTE.fullmatch(token) if bytes_ else None
    if byte is not None:
        return bytes([int(byte.group(1), 16)])
    for old, new in replaced:
        token = token.replace(old, new)
    return token.encode()
