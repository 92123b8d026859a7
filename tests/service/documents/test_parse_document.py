"""Every format gives the text that a reader of the file would see, and unreadable files are refused with a code."""

import random
import string
import struct
import zlib
from array import array
from datetime import datetime, time, timedelta

import pypdfium2
import pytest
from intaglio.schemas import catalogue
from intaglio.service.documents import parsed_document as media
from intaglio.service.documents.archive import Archive
from intaglio.service.documents.parse_document import parse_document
from intaglio.service.documents.parsed_document import Note, Page, ParsedDocument
from intaglio.service.documents.read_pdf import page_image
from intaglio.service.documents.read_sheets import Cell, cell_text
from intaglio.service.documents.recognise import media_type_of
from intaglio.service.documents.refused import ReadingRefused

from tests.support.document_files import (
    archive,
    docx,
    drawn_pdf,
    mail,
    ods,
    paragraph,
    pdf,
    pdf_of,
    table,
    xlsx,
)


def refusal(content: bytes) -> str:
    with pytest.raises(ReadingRefused) as refused:
        parse_document(content)
    assert refused.value.message
    assert refused.value.hint
    return refused.value.code


def test_a_pdf_is_read_page_by_page() -> None:
    found = parse_document(pdf([["Invoice 4711", "Total: 12 EUR"], ["Page two"]], compressed=True))
    assert found.media_type == media.PDF
    assert found.text == "Invoice 4711\nTotal: 12 EUR\n\nPage two"
    first, second = found.pages
    assert (first.start, first.end, first.width, first.height) == (0, 26, 400, 300)
    assert found.text[second.start : second.end] == "Page two"
    assert found.page_at(0) == first
    assert found.page_at(26) is None
    assert found.page_at(28) == second
    assert found.page_at(36) is None


def places(page: Page) -> list[tuple[float, ...]]:
    numbers = page.places()
    return [tuple(numbers[at : at + 4]) for at in range(0, len(numbers), 4)]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (20, 30, 390, 280)])
def test_boxes_hold_the_ink_of_their_glyphs(
    rotation: int, crop: tuple[int, int, int, int] | None
) -> None:
    """All ink of the page as it is shown lies within the boxes, and every box has ink."""
    content = pdf([["Wide WORDS 0123", "a second line"]], rotate=rotation, crop=crop)
    document = parse_document(content)
    (page,) = document.pages
    scale = 4.0
    with pypdfium2.PdfDocument(content) as opened:
        bitmap = opened[0].render(scale=scale, grayscale=True)
        assert (bitmap.width, bitmap.height) == (page.width * scale, page.height * scale)
        pixels, stride = bytes(bitmap.buffer), bitmap.stride
        width, height = bitmap.width, bitmap.height
    boxed = bytearray(width * height)
    for character, (x0, y0, x1, y1) in zip(document.text, places(page), strict=True):
        if character.isspace():
            assert (x0, y0, x1, y1) == (0, 0, 0, 0)
            continue
        assert 0 <= x0 < x1 <= page.width
        assert 0 <= y0 < y1 <= page.height
        left, right = int(x0 * scale) - 1, int(x1 * scale) + 2
        rows = range(int(y0 * scale) - 1, int(y1 * scale) + 2)
        assert any(min(pixels[y * stride + left : y * stride + right]) < 128 for y in rows)
        for y in rows:
            boxed[y * width + left : y * width + right] = b"\1" * (right - left)
    outside = [
        (x, y)
        for y in range(height)
        for x in range(width)
        if pixels[y * stride + x] < 128 and not boxed[y * width + x]
    ]
    assert outside == []


def test_text_read_back_inside_the_boxes_of_a_span_is_the_span() -> None:
    draw = random.Random(5)
    letters = string.ascii_letters + string.digits + "äöüß€.,-()"
    lines = ["".join(draw.choices(letters, k=40)) for _ in range(12)]
    content = pdf([lines, lines[::-1]])
    document = parse_document(content)
    assert document.text == "\n".join(lines) + "\n\n" + "\n".join(lines[::-1])
    with pypdfium2.PdfDocument(content) as opened:
        for page in document.pages:
            text_page, boxes = opened[page.number - 1].get_textpage(), places(page)
            for _ in range(40):
                start = draw.randrange(page.end - page.start - 8)
                end = start + draw.randrange(1, 8)
                span = document.text[page.start + start : page.start + end]
                read = ""
                for box in boxes[start:end]:
                    if any(box):
                        middle = (box[0] + box[2]) / 2, page.height - (box[1] + box[3]) / 2
                        index = text_page.get_index(*middle, 0.1, 0.1)
                        assert index is not None
                        read += text_page.get_text_range(index, 1)
                assert read == "".join(span.split())


def test_pages_without_text_are_named() -> None:
    found = parse_document(pdf([["text"], [], [" "], ["more"]]))
    assert found.text == "text\n\nmore"
    (note,) = found.notes
    assert (note.kind, note.pages) == ("no_text_layer", (2, 3))
    assert [page.number for page in found.pages] == [1, 2, 3, 4]
    assert refusal(pdf([[], []])) == "no_text_layer"


def test_pages_on_which_nothing_is_drawn_are_named() -> None:
    text, square = b"BT /F1 12 Tf 40 200 Td (text) Tj ET", b"1 0 0 rg 40 40 80 80 re f"
    found = parse_document(drawn_pdf([text, b"", square, b" \n"]))
    assert found.text == "text"
    assert [(note.kind, note.pages) for note in found.notes] == [
        ("no_text_layer", (3,)),
        ("blank_page", (2, 4)),
    ]
    assert refusal(drawn_pdf([b"", b""])) == "no_text_layer"


def test_attachments_of_a_pdf_are_handed_on() -> None:
    found = parse_document(pdf([["see attachment"]], attached={"data.csv": b"a,b\n1,2\n"}))
    (attached,) = found.attachments
    assert (attached.name, attached.content) == ("data.csv", b"a,b\n1,2\n")
    assert attached.media_type == media.PLAIN


def test_a_page_is_drawn_as_png() -> None:
    image = page_image(pdf([["Hello"]]), 1, 2.0)
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", image[16:24]) == (800, 600)
    (length,) = struct.unpack(">I", image[33:37])
    rows = zlib.decompress(image[41 : 41 + length])
    assert len(rows) == 600 * (1 + 3 * 800)
    assert {rows[at] for at in range(0, len(rows), 1 + 3 * 800)} == {0}
    assert min(rows[1:2401]) == 255
    assert 0 in rows[1 : 2401 * 120], "ink"
    with pytest.raises(ReadingRefused):
        page_image(pdf([["Hello"]]), 2, 1.0)


def test_a_word_document_is_read_in_order() -> None:
    body = (
        paragraph("Report", "Heading1")
        + paragraph("Intro &amp; more")
        + table([["Item", "Price"], ["Pen", "2.50"]])
        + '<w:p><w:r><w:t>See</w:t><w:footnoteReference w:id="2"/></w:r></w:p>'
        + "<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:t>new</w:t></w:r></w:p>"
        + "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t><w:tab/><w:t>two</w:t></w:r></w:p>"
    )
    notes = f'<w:footnote w:id="2">{paragraph("a note")}</w:footnote>'
    found = parse_document(docx(body, footnotes=notes, header1=paragraph("ACME Ltd")))
    assert found.media_type == media.DOCX
    assert found.text.split("\n") == [
        *("ACME Ltd", "# Report", "Intro & more", "Item | Price", "Pen | 2.50", "See[2]", "new"),
        *("- one\ttwo", "[2] a note"),
    ]


def test_a_workbook_is_read_sheet_by_sheet() -> None:
    found = parse_document(xlsx({"Orders": [["id", "sum"], [17, 2.5]], "Notes": [["hello"]]}))
    assert found.media_type == media.XLSX
    assert found.text == "id | sum\n17 | 2.5\n\nhello"
    assert [page.label for page in found.pages] == ["Orders", "Notes"]
    assert parse_document(ods([["a", "b"], ["c", ""]])).text == "a | b\nc"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (19.99 * 3, "59.97"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (1234567890123.0, "1234567890123"),
        (1e20, "1e+20"),
        (True, "TRUE"),
        (timedelta(days=1, hours=12), "36:00:00"),
        (timedelta(minutes=-5, seconds=-1), "-0:05:01"),
        (datetime(2024, 2, 28), "2024-02-28"),
        (datetime(2024, 2, 28, 14, 30), "2024-02-28 14:30:00"),
        (time(6), "06:00:00"),
    ],
)
def test_a_cell_is_written_as_its_program_shows_it(cell: Cell, text: str) -> None:
    assert cell_text(cell) == text


def test_hidden_text_of_a_word_document_is_left_out() -> None:
    def run(text: str, properties: str = "") -> str:
        return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"

    body = (
        f"<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run('a')}{run('no', '<w:vanish/>')}{run('b')}</w:p>"
        f"""<w:p>{run("c", '<w:vanish w:val="0"/>')}</w:p><w:p><w:vanish/>{run("d")}</w:p>"""
    )
    assert parse_document(docx(body)).text == "ab\nc\nd"


def test_html_is_read_as_it_is_seen() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>T</title><style>p{}</style></head><body><h2>Head</h2>"
        "<script>alert(1)</script><p>One <b>two</b>\n three<br>four</p><p hidden>no</p>"
        "<div style='display: none'>no</div><table><tr><th>a</th><td>b <i>c</i></td></tr></table>"
        "<ul><li>x</li><li>y</li></ul>&lt;end&gt;</body></html>"
    )
    found = parse_document(page.encode())
    assert found.media_type == media.HTML
    assert found.text.split("\n") == [
        *("T", "## Head", "One two three", "four", "a | b c", "- x", "- y", "<end>"),
    ]
    deep = b"<html>" + b"<div>" * 500 + b"deep" + b"</div>" * 500 + b"<p>after"
    assert parse_document(deep).text == "deep\nafter"
    long = b"<html><p>" + b"x" * 3_000_000 + b"<p>after"
    assert parse_document(long).text.endswith("x\nafter")
    latin = "<html><meta charset='iso-8859-1'><p>Käse</p></html>".encode("latin-1")
    assert parse_document(latin).text == "Käse"


def test_a_text_that_was_copied_from_a_mail_keeps_all_its_lines() -> None:
    sample = catalogue.get("support_ticket").sample
    found = parse_document(sample.encode())
    assert (found.media_type, found.text) == (media.PLAIN, sample)


def test_a_mail_keeps_the_fields_that_people_set_and_no_others() -> None:
    head = "Received: by x\nMessage-ID: <1@x>\nX-Mailer: y\nFrom: a@b.example\nPriority: urgent\nsubject: Broken\n"
    found = parse_document(f"{head}\nPlease help.\n".encode())
    assert found.media_type == media.MAIL
    assert found.text == "From: a@b.example\nSubject: Broken\nPriority: urgent\n\nPlease help."


def test_a_mail_has_its_fields_body_and_attachments() -> None:
    found = parse_document(mail("Hello,\n\nthe order.\n", attached={"o.pdf": pdf([["x"]])}))
    assert found.media_type == media.MAIL
    assert found.text.startswith("From: Jürgen Müller <jm@example.org>\nTo: office@example.com\n")
    assert found.text.endswith("Subject: Order 17\n\nHello,\n\nthe order.")
    assert [(a.name, a.media_type) for a in found.attachments] == [("o.pdf", media.PDF)]
    only_html = mail(" ", html="<table><tr><td>a</td><td>b</td></tr></table>")
    assert parse_document(only_html).text.endswith("\n\na | b")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_text_in_any_encoding(encoding: str) -> None:
    text = "Grüße aus Köln,\nfür die Bestellung über 12 Stück danken wir. Mit freundlichen Grüßen\n"
    found = parse_document(text.replace("\n", "\r\n").encode(encoding))
    assert (found.media_type, found.text) == (media.PLAIN, text)
    guessed = ["encoding_guessed"] if encoding == "cp1252" else []
    assert [note.kind for note in found.notes] == guessed


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (b"junk\n%PDF-1.4\n", media.PDF),
        (docx(""), media.DOCX),
        (xlsx({"a": []}), media.XLSX),
        (ods([]), media.ODS),
        (b"\xef\xbb\xbf<!-- x --><HTML>", media.HTML),
        (b"Received: by x\r\n\tid 5\r\nFrom: a@b\r\n\r\nbody", media.MAIL),
        (b"From a@b Mon Jan 1\nSubject: x\nTo: b\n\nbody", media.MAIL),
        (b"From: me\nThis is no mail, it has one field", media.PLAIN),
        (b"Message-ID: <1@x>\nFrom: a@b\nSubject: x\n\nbody", media.MAIL),
        (b"From: a@b\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nbody", media.MAIL),
        (b"From: a@b\nTo: c@d\nSubject: copied\nPriority: high\n\nbody", media.PLAIN),
        (b"name,sum\nPen,2\n", media.PLAIN),
        (b"# Title\n", media.PLAIN),
    ],
)
def test_the_content_decides_about_the_type(content: bytes, media_type: str) -> None:
    assert media_type_of(content) == media_type


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "unreadable_document"),
        (b"   \n", "unreadable_document"),
        (b"%PDF-1.7 and nothing", "unreadable_document"),
        (pdf([["a"]])[:200], "unreadable_document"),
        (b"PK\x03\x04 and nothing", "unreadable_document"),
        (docx(paragraph("a"))[:-30], "unreadable_document"),
        (b"\x89PNG\r\n\x1a\n", "unsupported_document"),
        (b"{\\rtf1 a}", "unsupported_document"),
        (archive({"a.txt": "a"}), "unsupported_document"),
        (bytes(range(256)) * 9, "unsupported_document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "unsupported_document"),
        (docx("<w:p>"), "unreadable_document"),
        (
            archive({"word/document.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}),
            "unreadable_document",
        ),
        (docx("<w:p>" * 300 + "</w:p>" * 300), "unreadable_document"),
        (archive({"word/document.xml": b" " * (3 << 20)}), "document_too_large"),
        (b"<html>" + b"<div>" * 3000 + b"x", "document_too_large"),
    ],
)
def test_what_cannot_be_read_is_refused(content: bytes, code: str) -> None:
    assert refusal(content) == code


def test_an_archive_of_too_many_members_is_refused() -> None:
    assert refusal(archive({str(i): "" for i in range(10_001)})) == "document_too_large"


def encrypted_pdf() -> bytes:
    encrypt = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"41" * 32, b"42" * 32)
    pages = b"<< /Type /Pages /Count 0 /Kids [] >>"
    return pdf_of(
        [b"<< /Type /Catalog /Pages 2 0 R >>", pages, encrypt], b"/Encrypt 3 0 R /ID [<00><00>] "
    )


def test_an_encrypted_pdf_is_named_as_such() -> None:
    assert refusal(encrypted_pdf()) == "encrypted_document"


def test_an_encrypted_archive_is_named_as_such() -> None:
    content = bytearray(docx(paragraph("a")))
    at = content.index(b"PK\x01\x02")
    content[at + 8] |= 1  # the flag of the first member in the directory
    assert refusal(bytes(content)) == "encrypted_document"


def test_names_of_members_lead_nowhere() -> None:
    slip = archive({"../../../tmp/x": "a", "word/document.xml": "<a/>"})
    with Archive(slip) as opened:
        assert opened.read("../../../tmp/x") == b"a"


def test_values_refuse_nothing_that_readers_make() -> None:
    page = Page(1, 0, 1, boxes=array("f", [1, 2, 3, 4]).tobytes())
    document = ParsedDocument(media.PDF, "a", (page,), (Note("k", "m", (1,)),))
    assert list(document.pages[0].places()) == [1, 2, 3, 4]


def test_a_pdf_without_pages_is_not_blamed_for_the_file_before_it() -> None:
    none = pdf([])
    for before in (encrypted_pdf(), none[:40]):
        refusal(before)
        with pytest.raises(ReadingRefused, match="the PDF has no pages"):
            parse_document(none)


def filled_form(
    rotate: int, *fields: bytes, own: bytes = b"BT /F1 12 Tf 40 800 Td (Order number:) Tj ET"
) -> bytes:
    """A page of A4 whose size and turn come from the tree of pages, with these fields."""
    numbers = b" ".join(b"%d 0 R" % (6 + at) for at in range(len(fields)))
    return pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [%s] /DA (/F1 12 Tf 0 g) >> >>" % numbers,
            b"<< /Type /Pages /Count 1 /Kids [4 0 R] /MediaBox [0 0 595 842] /Rotate %d >>" % rotate,
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Annots [%s] "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % numbers,
            b"<< /Length %d >>\nstream\n%s\nendstream" % (len(own), own),
            *(b"<< /Type /Annot /Subtype /Widget /FT /Tx /P 4 0 R %s >>" % field for field in fields),
        ]
    )  # fmt: skip


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_the_values_of_a_form_are_read_where_they_are_shown(rotation: int) -> None:
    shown = b"/T (order) /V (A-20417) /Rect [160 795 300 815]"
    hidden = b"/T (old) /V (B-1) /Rect [160 695 300 715] /F 2"
    content = filled_form(rotation, shown, hidden)
    document = parse_document(content)
    assert sorted(document.text.split("\n")) == ["A-20417", "Order number:"]
    assert document.notes == ()
    (page,) = document.pages
    assert (page.width, page.height) == ((842, 595) if rotation % 180 else (595, 842))
    x0, y0, x1, y1 = {
        0: (160, 27, 300, 47), 90: (795, 160, 815, 300),
        180: (295, 795, 435, 815), 270: (27, 295, 47, 435),
    }[rotation]  # fmt: skip
    for left, top, right, bottom in places(page)[document.text.index("A-20417") :][:7]:
        assert x0 <= left < right <= x1
        assert y0 <= top < bottom <= y1
    without = page_image(filled_form(rotation, hidden), 1, 1)
    assert page_image(content, 1, 1) != without


def test_a_form_on_a_scan_leaves_it_a_page_without_a_text_layer() -> None:
    field = b"/T (order) /V (A-20417) /Rect [160 795 300 815]"
    document = parse_document(filled_form(0, field, own=b"0 0 m 100 100 l S"))
    assert document.text == "A-20417"
    assert [(note.kind, note.pages) for note in document.notes] == [("no_text_layer", (1,))]
