"""Characters to bytes: every spelling, and only those, that Python's codecs and `json` read back."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.automata import CODE_POINTS, REFUSED, Spelling, encode, everything
from intaglio.grammar.regex import whole

SETS = [
    r"[a-é]",
    r"\p{Lu}",
    r"[\u{FFFE}-\u{10001}\u{1F600}]",
    r"[^x]",
    r"[\x00-\x1f\"\\/]",
    r"[\uD000-\uE000]",
    ".",
]
characters = st.characters(exclude_categories=["Cs"]) | st.sampled_from(
    '"\\/\n\x00\x1f\x7f\ud7ff\ue000\uffff🐲\U0010ffff'
)


def spellings(c: str) -> set[bytes]:
    """Every way JSON can write one character inside a string."""
    units = c.encode("utf-16-be")
    hexes = [units[i : i + 2].hex() for i in range(0, len(units), 2)]
    written = {
        "".join(f"\\u{h}" for h in hexes).encode(),
        "".join(f"\\u{h.upper()}" for h in hexes).encode(),
    }
    if c >= " " and c not in '"\\':
        written.add(c.encode())
    short = {"\b": "b", "\t": "t", "\n": "n", "\f": "f", "\r": "r", '"': '"', "\\": "\\", "/": "/"}
    if c in short:
        written.add(b"\\" + short[c].encode())
    return written


@settings(deadline=None)
@given(st.sampled_from(SETS), characters)
def test_each_spelling_is_taken_exactly_when_the_character_is(pattern: str, c: str) -> None:
    chars = whole(pattern)
    inside = chars.judge([ord(c)])
    assert encode(chars, Spelling.UTF8).judge(c.encode()) == inside
    for text in spellings(c):
        assert encode(chars, Spelling.JSON).judge(text) == inside
    canonical = {
        t for t in spellings(c) if encode(chars, Spelling.JSON_CANONICAL).judge(t) != REFUSED
    }
    assert canonical == (
        {json.dumps(c, ensure_ascii=False)[1:-1].encode()} if inside == 0 else set()
    )


@settings(deadline=None)
@given(st.binary(max_size=8))
def test_bytes_that_are_not_utf8_are_refused(data: bytes) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        expected = REFUSED
    else:
        expected = 0
    assert encode(everything(CODE_POINTS), Spelling.UTF8).judge(data) == expected


pieces = [
    b"\\",
    b"u",
    b"d8",
    b"D83D",
    b"dE00",
    b"dc32",
    b"00",
    b"4",
    b"a",
    b'"',
    b"\n",
    b"n",
    b"\xc3\xa9",
    b"\xc3",
]
json_bits = st.lists(st.sampled_from([*pieces, b"\x80"]), max_size=8).map(b"".join)


@settings(deadline=None)
@given(json_bits)
def test_json_strings_are_those_json_reads_without_lone_surrogates(data: bytes) -> None:
    try:
        value = json.loads(b'"' + data + b'"')
        value.encode()
        expected = 0
    except ValueError:
        expected = REFUSED
    assert encode(everything(CODE_POINTS), Spelling.JSON).judge(data) == expected
