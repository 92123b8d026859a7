"""Hostile or odd files, generated from a seed, and the cost of reading each of them.

`python -m tests.conformance.hostile_documents --count 500` reads them in one reader after another and reports the
outcomes, the most processor time and the most memory of a child. It fails if a file gives anything but a document or an
error of documents within 2 seconds and 256 MiB.
"""

import argparse
import random
import struct
import sys
import time
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from intaglio.service.documents.document_reader import DocumentReader
from intaglio.service.errors import (
    DocumentTooLarge,
    EncryptedDocument,
    NoTextLayer,
    UnreadableDocument,
    UnsupportedDocument,
)

from tests.support.document_files import (
    archive,
    docx,
    mail,
    ods,
    paragraph,
    pdf,
    pdf_of,
    table,
    xlsx,
)

REFUSALS = (
    DocumentTooLarge,
    EncryptedDocument,
    NoTextLayer,
    UnreadableDocument,
    UnsupportedDocument,
)
SEED = 18
_TICKS = 100  # of /proc, a second

Maker = Callable[[random.Random], bytes]


def good(draw: random.Random) -> bytes:
    """A file of any format that is read."""
    lines = ["".join(draw.choices("abcdefgh 0123456789.,", k=30)) for _ in range(8)]
    return draw.choice(
        [
            pdf([lines, lines], compressed=True),
            docx("".join(map(paragraph, lines)) + table([lines[:3], lines[3:6]])),
            xlsx({"One": [lines[:3], lines[3:6]]}),
            ods([lines[:3], lines[3:6]]),
            f"<html><body>{'<p>'.join(lines)}</body></html>".encode(),
            mail("\n".join(lines), attached={"a.pdf": pdf([lines])}),
            "\n".join(lines).encode("utf-16"),
        ]
    )


def truncated(draw: random.Random) -> bytes:
    content = good(draw)
    return content[: draw.randrange(1, len(content))]


def flipped(draw: random.Random) -> bytes:
    content = bytearray(good(draw))
    for _ in range(draw.choice((1, 8, 64))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content)


def shuffled(draw: random.Random) -> bytes:
    content = good(draw)
    cuts = sorted(draw.sample(range(len(content)), min(4, len(content))))
    parts = [content[a:b] for a, b in zip([0, *cuts], [*cuts, len(content)], strict=True)]
    draw.shuffle(parts)
    return b"".join(parts)


def zip_bomb(draw: random.Random) -> bytes:
    size = draw.choice((4, 40, 90)) << 20
    body = b"<w:t>" + b"a" * size
    return archive({draw.choice(("word/document.xml", "xl/workbook.xml")): body})


def lying_zip(draw: random.Random) -> bytes:
    """An archive whose directory understates what a member unpacks to, or overstates it."""
    content = bytearray(docx(paragraph("a" * (8 << 20))))
    at = content.rindex(b"PK\x01\x02")
    content[at + 24 : at + 28] = struct.pack("<I", draw.choice((1, 100, 0x7FFFFFFF, 0xFFFFFFFE)))
    return bytes(content)


def nested_zip(draw: random.Random) -> bytes:
    content = docx(paragraph("a"))
    for _ in range(draw.randrange(1, 20)):
        content = archive({"word/document.xml": content})
    return content


def slip(draw: random.Random) -> bytes:
    name = draw.choice(("../../../../tmp/slip", "/tmp/slip", "word/../../x", "C:\\x", "a\0b"))
    return archive({name: "x", "word/document.xml": docx(paragraph("a"))})


def doubled(_draw: random.Random) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in ("one", "two"):
            file.writestr("word/document.xml", docx(paragraph(text)))
    return out.getvalue()


def xml_bomb(draw: random.Random) -> bytes:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "x">{entities}]><a>&e11;</a>'
    outside = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    text = draw.choice((bomb, outside, " " * 5000 + bomb))
    return archive({draw.choice(("word/document.xml", "xl/workbook.xml")): text})


def deep(draw: random.Random) -> bytes:
    depth = draw.choice((300, 5000, 100_000))
    if draw.random() < 0.5:
        return docx("<w:p>" * depth + "x" + "</w:p>" * depth)
    return b"<html>" + b"<div>" * depth + b"x"


def wide_html(draw: random.Random) -> bytes:
    return b"<html><table>" + b"<tr><td>a<td>b" * draw.choice((1000, 60_000))


def huge_sheet(draw: random.Random) -> bytes:
    """A sheet with one cell at each end of its range."""
    content = xlsx({"One": [["a", 1]]})
    place = draw.choice((b"XFD1048576", b"ZZ1000000", b"A1048576"))
    with zipfile.ZipFile(BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    name = "xl/worksheets/sheet1.xml"
    members[name] = members[name].replace(b'r="B1"', b'r="%s"' % place)
    members[name] = members[name].replace(b"</row>", b'</row><row r="1048576"></row>')
    return archive(members)


def cyclic_pages(draw: random.Random) -> bytes:
    pages = draw.choice(
        (
            b"<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>",
            b"<< /Type /Pages /Count 2147483647 /Kids [3 0 R] >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] /Parent 2 0 R >>",
        )
    )
    page = b"<< /Type /Page /Parent 2 0 R /Contents 3 0 R /Resources 3 0 R /MediaBox [0 0 9 9] >>"
    return pdf_of([b"<< /Type /Catalog /Pages 2 0 R >>", pages, page])


def pdf_bomb(draw: random.Random) -> bytes:
    """A page with a content stream that unpacks to hundreds of megabytes, or draws for ever."""
    if draw.random() < 0.5:
        stream = zlib.compress(b"q " * (60 << 20), 9)
    else:
        stream = zlib.compress(b"BT /F1 1 Tf (" + b"a" * (4 << 20) + b") Tj ET", 9)
    head = b"<< /Length %d /Filter /FlateDecode >>" % len(stream)
    page = (
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /MediaBox [0 0 99 99] /Resources << /Font "
        b"<< /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
    )
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            page,
            head + b"\nstream\n" + stream + b"\nendstream",
        ]
    )


def form_in_itself(_draw: random.Random) -> bytes:
    content = pdf([["text"]])
    return content.replace(b"/Resources << /Font", b"/Resources << /XObject << /X 5 0 R >> /Font")


def absurd_page(draw: random.Random) -> bytes:
    size = draw.choice((b"0 0 0 0", b"0 0 1e30 1e30", b"9 9 -9 -9", b"nan inf 5 5"))
    return pdf([["text"]]).replace(b"0 0 400 300", size)


def many_pages(draw: random.Random) -> bytes:
    return pdf([["a"]] * draw.choice((500, 6000)))


def encrypted(_draw: random.Random) -> bytes:
    lock = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32)
    pages = b"<< /Type /Pages /Count 0 /Kids [] >>"
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", pages, lock]
    return pdf_of(objects, b"/Encrypt 3 0 R /ID [<00><00>] ")


def scan(draw: random.Random) -> bytes:
    return pdf([[] for _ in range(draw.randrange(1, 30))])


def disguised(draw: random.Random) -> bytes:
    heads = (b"%PDF-1.7\n", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"<html>", b"")
    return draw.choice(heads) + draw.randbytes(draw.choice((10, 1000, 100_000)))


def nested_mail(draw: random.Random) -> bytes:
    depth = draw.choice((10, 500, 5000))
    head = "From: a@b\nTo: c@d\nMIME-Version: 1.0\n"
    parts = "".join(
        f"Content-Type: multipart/mixed; boundary=b{i}\n\n--b{i}\n" for i in range(depth)
    )
    return (head + parts + "\n\nbody").encode()


def odd_mail(draw: random.Random) -> bytes:
    fields = ("=?utf-8?q?=ff=fe?=", "=?x?b?!!!?=", "a" * 20_000, "<<>>,;:@", "=?" * 2000)
    kind = draw.choice(("text/plain; charset=nothing", "text/html; charset=utf-7", ";;;=", "x/y"))
    value = draw.choice(fields)
    return (
        f"From: {value}\nTo: {value}\nDate: {value}\nContent-Type: {kind}\n"
        f"Content-Transfer-Encoding: {draw.choice(('base64', 'x', 'quoted-printable'))}\n\n{value}"
    ).encode()


MAKERS: tuple[Maker, ...] = (
    *(good, truncated, truncated, flipped, flipped, flipped, shuffled, zip_bomb, lying_zip),
    *(nested_zip, slip, doubled, xml_bomb, deep, wide_html, huge_sheet, cyclic_pages, pdf_bomb),
    *(form_in_itself, absurd_page, many_pages, encrypted, scan, disguised, nested_mail, odd_mail),
)


def files(count: int, seed: int = SEED) -> Iterator[tuple[str, bytes]]:
    """So many files, each with the name of its kind; every kind in turn."""
    draw = random.Random(seed)
    for number in range(count):
        make = MAKERS[number % len(MAKERS)]
        yield make.__name__, make(draw)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What reading a file gave: `document` or the code of an error; the figures of its child are 0 if that died."""

    kind: str
    code: str
    message: str
    cpu_s: float
    peak_bytes: int


def read(reader: DocumentReader, kind: str, content: bytes) -> Outcome:
    """Read one file. Raises everything that is no error of documents."""
    pids = reader.pids
    before = cpu_seconds(pids[0]) if pids else 0.0
    code, message = "document", ""
    try:
        reader.read(content)
    except REFUSALS as refused:
        code, message = refused.code.value, refused.message
    pids = reader.pids
    after = cpu_seconds(pids[0]) if pids else before
    return Outcome(kind, code, message, after - before, peak_bytes(pids[0]) if pids else 0)


def cpu_seconds(pid: int) -> float:
    """Processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def peak_bytes(pid: int) -> int:
    """The most memory that a process has had resident."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    started, outcomes = time.perf_counter(), list[Outcome]()
    with DocumentReader(children=1) as reader:
        reader.read(b"a text")
        for kind, content in files(arguments.count, arguments.seed):
            outcomes.append(read(reader, kind, content))
        assert reader.read(b"a text").text == "a text"
    for (kind, code, message), number in sorted(
        Counter((o.kind, o.code, o.message) for o in outcomes).items()
    ):
        print(f"{number:5} {kind:16} {code:22} {message}")
    cpu, peak = max(o.cpu_s for o in outcomes), max(o.peak_bytes for o in outcomes)
    print(f"{len(outcomes)} files in {time.perf_counter() - started:.0f} s; of children that lived")
    print(f"most processor time {cpu:.2f} s, most memory {peak / 2**20:.0f} MiB")
    return int(cpu > 2.1 or peak > 256 << 20)


if __name__ == "__main__":
    sys.exit(main())
