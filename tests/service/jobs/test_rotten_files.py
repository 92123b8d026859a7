"""Damaged files: each ends in records, refused records or `InputRefused`, and in little memory."""

import gzip
import io
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from intaglio.schemas.jobs import Source
from intaglio.service.jobs.readers import records
from intaglio.service.jobs.readers.csv_tsv import MOST_CELL, MOST_LINES
from intaglio.service.jobs.records.errors import InputRefused
from intaglio.service.jobs.records.record import Record, Rejected

ROUNDS: Final = 40  # of each kind of file
CELL: Final = {"text": "body", "id": "id"}
ITEM: Final = {"record": "c/item", "text": "body", "id": "@id"}


def _parquet() -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table({"id": ["a", "b"] * 40, "body": ["ärger", "x" * 90] * 40}), buffer)
    return buffer.getvalue()


CSV: Final = ("id,body\n" + "".join(f'{n},"größe, ""{n}"""\n' for n in range(40))).encode()
XML: Final = (
    '<?xml version="1.0" encoding="UTF-8"?><c>'
    + "".join(f'<item id="{n}"><body>größe &amp; {n}</body></item>' for n in range(40))
    + "</c>"
).encode()
GOOD: Final[dict[str, tuple[bytes, dict[str, Any]]]] = {
    "in.csv": (CSV, CELL),
    "in.tsv": (CSV.replace(b",", b"\t"), CELL),
    "wide.csv": (CSV.decode().encode("utf-16"), CELL),
    "in.csv.gz": (gzip.compress(CSV), CELL),
    "in.csv.zst": (pa.compress(CSV, codec="zstd", asbytes=True), CELL),
    "in.jsonl": (b"".join(b'{"id":%d,"body":"\\u00e4 %d"}\n' % (n, n) for n in range(40)), CELL),
    "in.xml": (XML, ITEM),
    "in.xml.gz": (gzip.compress(XML), ITEM),
    "in.parquet": (_parquet(), CELL),
}
SPLINTERS: Final = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"\r",
    b"\n\n\n",
    b"," * 300,
    b"<item>",
    b"</c>",
    b"<![CDATA[",
    b"<!DOCTYPE x>",
    b"&#0;",
    b"&lol;",
    b"\xed\xa0\x80",
    b"{" * 300,
    b"1e999",
    b"9" * 5000,
)


def _broken(dice: random.Random, data: bytes) -> bytes:
    """`data` with a few things done to it that happen to files, and a few that do not."""
    for _ in range(dice.randint(1, 4)):
        at, end = sorted(dice.randrange(len(data) + 1) for _ in range(2))
        match dice.randrange(5):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:at] + dice.choice(SPLINTERS) + data[at:]
            case 3:
                data = data[:at] + dice.randbytes(end - at) + data[end:]
            case _:
                data = data[:end] + data[at:]
        data = data or b"\n"
    return data


def _outcome(path: Path, asked: dict[str, Any]) -> tuple[list[Record], list[Rejected], str]:
    """What came of a file: its records, those that were refused, and why it was given up, if it was."""
    good: list[Record] = []
    bad: list[Rejected] = []
    source = Source.model_validate({"path": str(path), **asked}, strict=False)
    try:
        for found in records(source, path):
            if isinstance(found, Record):
                good.append(found)
            else:
                bad.append(found)
    except InputRefused as refused:
        return good, bad, refused.message or "no reason was given"
    return good, bad, ""


@pytest.mark.parametrize("name", sorted(GOOD))
def test_damage_is_told_and_never_surprises(tmp_path: Path, name: str) -> None:
    whole, asked = GOOD[name]
    path = tmp_path / name
    path.write_bytes(whole)
    good, bad, why = _outcome(path, asked)
    assert (len(good) >= 40, bad, why) == (True, [], "")
    spoilt = 0
    for seed in range(ROUNDS):
        path.write_bytes(_broken(random.Random(f"{name} {seed}"), whole))
        good, bad, why = _outcome(path, asked)
        spoilt += bool(bad or why)
        assert why != "no reason was given"
        for row in bad:
            assert row.reason
        assert all(record.text.strip() for record in good)
        assert [file.name for file in tmp_path.iterdir()] == [name]
    assert spoilt > ROUNDS // 4, "the damage is worth something only if it does some"


def _attributes() -> Iterator[bytes]:
    yield b"<c><item id='1' "
    for number in range(100_000):
        yield b"a%d='x' " % number
    yield b"><body>x</body></item></c>"


def _columns() -> Iterator[bytes]:
    names = b",".join(b"c%d" % number for number in range(100_000))
    yield b"id,body," + names + b"\n1,fine," + b"," * 99_999 + b"\n2,short\n"


def _open_quote() -> Iterator[bytes]:
    yield b'id,body\n1,"'
    line = b"never closed and long lines " * 20 + b"\n"
    for _ in range(40):
        yield line * 250


def _one_line() -> Iterator[bytes]:
    yield b"id,body\n1,"
    for _ in range(96):
        yield b"x" * 1_000_000


def _deep() -> Iterator[bytes]:
    yield b"<c>" + b"<item>" * 100_000


def _deep_json() -> Iterator[bytes]:
    yield b'{"id":1,"body":"fine"}\n{"id":2,"body":' + b"[" * 200_000 + b"\n"


def _comments() -> Iterator[bytes]:
    yield b"<c><item id='1'><body>fine</body></item>"
    for _ in range(64):
        yield b"<!--" + b"x" * 500_000 + b"-->"
    yield b"</c>"


def _wrong_declaration() -> Iterator[bytes]:
    yield b"<?xml version='1.0' encoding='utf-16'?><c><item id='1'><body>x</body></item></c>"


LARGE: Final = {
    "columns.csv": (_columns, CELL, 1),
    "quote.csv": (_open_quote, CELL, 0),
    "line.csv": (_one_line, CELL, 0),
    "attributes.xml": (_attributes, ITEM, 1),
    "deep.xml": (_deep, ITEM, 0),
    "comments.xml": (_comments, ITEM, 1),
    "declared.xml": (_wrong_declaration, ITEM, 0),
    "deep.jsonl": (_deep_json, CELL, 1),
}


@pytest.mark.parametrize("name", sorted(LARGE))
def test_what_is_large_on_purpose_takes_little(tmp_path: Path, name: str) -> None:
    make, asked, most = LARGE[name]
    path = tmp_path / name
    with path.open("wb") as file:
        file.writelines(make())
    tracemalloc.start()
    good, bad, why = _outcome(path, asked)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(good) <= most
    assert bad or why or good
    assert peak < 96 << 20


def test_lines_too_long_to_keep_cost_themselves_only(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    line = "y" * 99_999 + "\n"
    long, many = "x" * (MOST_CELL + 4000), line * (MOST_LINES // len(line) + 2)
    path.write_text(f'id,body\n1,fine\n2,{long}\n3,"open\n4,{long}\n5,fine\n6,"{many}7,fine\n')
    good, bad, why = _outcome(path, CELL)
    assert [record.id for record in good] == ["1", "5", "7"]
    assert [row.pointer for row in bad[:4]] == ["/line/3", "/line/4", "/line/5", "/line/7"]
    assert [row.reason.split(":")[0] for row in bad[:4]] == [
        f"a line of more than {MOST_CELL} characters",
        "broken quoting",
        f"a line of more than {MOST_CELL} characters",
        "broken quoting",
    ]
    assert why == ""


def test_twins_are_told_apart_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "twins.csv"
    path.write_text("id,body\n" + "same,text\n" * 3)
    good, bad, why = _outcome(path, CELL)
    assert ([record.id for record in good], bad, why) == (["same"] * 3, [], "")
