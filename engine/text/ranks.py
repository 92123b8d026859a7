"""Tokenizers in the form of ranked byte strings: tiktoken's files and Mistral's `tekken.json`.

Does: read them, and convert them to the equivalent `tokenizer.json`: byte-level BPE in which two neighbours merge if
the result is a token, the lowest rank first. Does not: tokenize (`tokenizer`).

A rank file contains neither the pre-tokenisation pattern nor the control tokens. The folder's `tokenizer_config.json`
has both (`pat_str`, `added_tokens_decoder`); the patterns of some families are known here.
"""

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import ModelError
from .alphabet import byte_level_alphabet

Ranks = Mapping[bytes, int]

_WORDS: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# By `model_type` of config.json. They differ in the number of digits that form one word.
PATTERNS: Final = {"llama": _WORDS % "{1,3}", "qwen2": _WORDS % "", "qwen3": _WORDS % ""}

# The control tokens of a tekken.json of 2024, which does not list them.
_TEKKEN_CONTROL: Final = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
    *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]"),
    *("[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]"),
    "[TOOL_CONTENT]",
)
_LINE: Final = re.compile(rb"[A-Za-z0-9+/]+={0,2} \d+")


def rank_file(folder: Path) -> Path | None:
    """The rank file of a folder: `*.tiktoken`, `tiktoken.model` or, unless it is SentencePiece's, `tokenizer.model`."""
    named = sorted(folder.glob("*.tiktoken"))
    for path in (*named, folder / "tiktoken.model", folder / "tokenizer.model"):
        if path.is_file():
            with path.open("rb") as file:
                if _LINE.fullmatch(file.readline(4096).strip()):
                    return path
    return None


def tiktoken_source(path: Path, config: Mapping[str, Any], family: str) -> dict[str, Any]:
    """A rank file as a `tokenizer.json`. `config` is `tokenizer_config.json`, `family` the model's type.

    Raises:
        ModelError: the file is invalid, or the folder has no pre-tokenisation pattern.
    """
    pattern = config.get("pat_str") or PATTERNS.get(family)
    if not isinstance(pattern, str):
        raise ModelError(
            f"{path.name} has no pattern that splits text into words",
            where=str(path),
            hint='put the pattern into tokenizer_config.json as "pat_str", or convert it to tokenizer.json',
        )
    added = [
        {"content": str(token["content"]), "id": int(index), "special": bool(token.get("special"))}
        for index, token in (config.get("added_tokens_decoder") or {}).items()
    ]
    return _source(_read_ranks(path), pattern, added, path)


def tekken_source(path: Path, value: Mapping[str, Any]) -> dict[str, Any]:
    """A parsed `tekken.json` as a `tokenizer.json`. Control tokens come first; the file has their number.

    Raises:
        ModelError: the file is invalid.
    """
    try:
        config = value["config"]
        control, size = int(config["default_num_special_tokens"]), int(config["default_vocab_size"])
        listed = value.get("special_tokens")
        names = (
            dict(enumerate(_TEKKEN_CONTROL))
            if listed is None
            else {int(token["rank"]): str(token["token_str"]) for token in listed}
        )
        added = [
            {"content": names.get(i, f"<SPECIAL_{i}>"), "id": i, "special": True}
            for i in range(control)
        ]
        ranks = {
            base64.b64decode(token["token_bytes"], validate=True): int(token["rank"]) + control
            for token in value["vocab"]
            if int(token["rank"]) < size - control
        }
        pattern = str(config["pattern"])
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise ModelError(
            f"{path.name} is not a Tekken tokenizer: {error!r}", where=str(path)
        ) from error
    return _source(ranks, pattern, added, path)


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if line.strip():
            if not _LINE.fullmatch(line.strip()):
                raise ModelError(f"line {number} of {path.name} is not a rank", where=str(path))
            token, rank = line.split()
            ranks[base64.b64decode(token)] = int(rank)
    return ranks


def _source(
    ranks: Ranks, pattern: str, added: Sequence[Mapping[str, Any]], path: Path
) -> dict[str, Any]:
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise ModelError(f"{path.name} has no token for byte {missing[0]}", where=str(path))
    ids = {int(token["id"]) for token in added} | set(ranks.values())
    if len(ids) != len(added) + len(ranks):
        raise ModelError(f"{path.name} gives the same id to two tokens", where=str(path))
    # The regular expressions of `tokenizers` interpret both constructs differently from these tokenizers.
    if re.search(r"\{\d+(,\d*)?\}\+|(?<!\\)\$", pattern):
        raise ModelError(
            f"the pattern of {path.name} has a construct that is not supported: a possessive count or $",
            where=str(path),
            hint="convert the tokenizer to tokenizer.json",
        )
    letters = byte_level_alphabet()
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    cut = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    return {
        "version": "1.0",
        "added_tokens": [{**token, **flags} for token in sorted(added, key=lambda t: int(t["id"]))],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [cut, level]},
        "post_processor": None,
        "decoder": level,
        "model": {
            "type": "BPE",
            "byte_fallback": False,
            "ignore_merges": True,  # a whole word that is a token is not merged
            "vocab": {_spelled(token, letters): rank for token, rank in ranks.items()},
            "merges": [[_spelled(part, letters) for part in pair] for pair in merges(ranks)],
        },
    }


def merges(ranks: Ranks) -> list[tuple[bytes, bytes]]:
    """All pairs of tokens that merge to a token, in the order of the rank of that token."""
    pairs = []
    for token, rank in ranks.items():
        for at in range(1, len(token)):
            left, right = token[:at], token[at:]
            if left in ranks and right in ranks:
                pairs.append((rank, ranks[left], ranks[right], left, right))
    return [(left, right) for *_, left, right in sorted(pairs)]


def _spelled(token: bytes, letters: Sequence[str]) -> str:
    return "".join(letters[byte] for byte in token)
