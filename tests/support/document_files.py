"""Files of documents, made by hand: PDF, DOCX, XLSX, ODS and mail."""

import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def pdf(
    pages: Sequence[Sequence[str]],
    *,
    size: tuple[int, int] = (400, 300),
    rotate: int = 0,
    crop: tuple[int, int, int, int] | None = None,
    compressed: bool = False,
    attached: Mapping[str, bytes] | None = None,
) -> bytes:
    """A PDF with the given lines on each page, in Helvetica of 12 points. Lines are Latin-1. A page without lines has a
    red square, as a scan has an image.
    """
    objects: list[bytes] = [
        b"",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for lines in pages:
        stream = b"BT /F1 12 Tf 14 TL 40 %d Td " % (size[1] - 40)
        stream += b" ".join(b"(%s) Tj T*" % _escaped(line) for line in lines) + b" ET"
        if not lines:
            stream = b"1 0 0 rg 40 40 80 80 re f"
        extra = b""
        if compressed:
            stream, extra = zlib.compress(stream), b" /Filter /FlateDecode"
        objects.append(_stream(stream, extra))
        box = b"[0 0 %d %d]" % size
        cropped = b" /CropBox [%d %d %d %d]" % crop if crop else b""
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox %s%s /Rotate %d /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (box, cropped, rotate, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    names = b""
    for name, content in (attached or {}).items():
        objects.append(_stream(content, b" /Type /EmbeddedFile"))
        objects.append(
            b"<< /Type /Filespec /F (%s) /UF (%s) /EF << /F %d 0 R >> >>"
            % (name.encode(), name.encode(), len(objects))
        )
        names += b"(%s) %d 0 R " % (name.encode(), len(objects))
    embedded = b" /Names << /EmbeddedFiles << /Names [%s] >> >>" % names if names else b""
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R%s >>" % embedded
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return pdf_of(objects)


def pdf_of(objects: Iterable[bytes], trailer: bytes = b"") -> bytes:
    """A PDF with these objects, of which the first is the catalog."""
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    out += b"trailer\n<< /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        trailer,
        start,
    )
    return bytes(out)


def _stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def _escaped(line: str) -> bytes:
    escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return escaped.encode("cp1252")


def archive(members: Mapping[str, bytes | str]) -> bytes:
    """A ZIP archive."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return out.getvalue()


def docx(body: str, **parts: str) -> bytes:
    """A Word document with the XML `body`; `parts` are further ones by name (`footnotes`, `header1`)."""
    members: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>{body}</w:body></w:document>',
    }
    for name, content in parts.items():
        members[f"word/{name}.xml"] = f'<w:part xmlns:w="{_WORD}">{content}</w:part>'
    return archive(members)


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of a Word document."""
    look = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{look}<w:r><w:t>{text}</w:t></w:r></w:p>"


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of a Word document."""
    lines = (f"<w:tr>{''.join(f'<w:tc>{paragraph(c)}</w:tc>' for c in row)}</w:tr>" for row in rows)
    return f"<w:tbl>{''.join(lines)}</w:tbl>"


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float]]]) -> bytes:
    """A workbook with the given rows on each sheet."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>' for i, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="r{i}" Type="{_LINKS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(sheets) + 1)
    )
    office = f'<Relationship Id="r0" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>'
    members: dict[str, bytes | str] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{office}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_SHEET}" xmlns:r="{_LINKS}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
    }
    for number, rows in enumerate(sheets.values(), 1):
        lines = "".join(
            f'<row r="{r}">{"".join(_cell(r, c, value) for c, value in enumerate(row))}</row>'
            for r, row in enumerate(rows, 1)
        )
        members[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_SHEET}"><sheetData>{lines}</sheetData></worksheet>'
        )
    return archive(members)


def _cell(row: int, column: int, value: str | float) -> str:
    place = f"{chr(65 + column)}{row}"
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def ods(rows: Sequence[Sequence[str]]) -> bytes:
    """An OpenDocument spreadsheet with one sheet."""
    uri = "urn:oasis:names:tc:opendocument:xmlns"
    cells = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{c}</text:p></table:table-cell>'
            for c in row
        )
        + "</table:table-row>"
        for row in rows
    )
    content = (
        f'<office:document-content xmlns:office="{uri}:office:1.0" xmlns:table="{uri}:table:1.0" '
        f'xmlns:text="{uri}:text:1.0"><office:body><office:spreadsheet><table:table table:name="One">'
        f"{cells}</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = f'<manifest:manifest xmlns:manifest="{uri}:manifest:1.0"/>'
    return archive({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def mail(
    body: str,
    *,
    subject: str = "Order 17",
    html: str = "",
    attached: Mapping[str, bytes] | None = None,
) -> bytes:
    """A mail in plain text, with another form of its body and files where given."""
    from email.message import EmailMessage

    message = EmailMessage()
    message["From"] = "Jürgen Müller <jm@example.org>"
    message["To"] = "office@example.com"
    message["Date"] = "Mon, 12 Feb 2024 09:30:00 +0100"
    message["Subject"] = subject
    message.set_content(body)
    if html:
        message.add_alternative(html, subtype="html")
    for name, content in (attached or {}).items():
        message.add_attachment(
            content, maintype="application", subtype="octet-stream", filename=name
        )
    return message.as_bytes()


def drawn_pdf(pages: Sequence[bytes], size: tuple[int, int] = (400, 300)) -> bytes:
    """A PDF with these content streams as pages; the font F1 is Helvetica."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for stream in pages:
        objects.append(_stream(stream, b""))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (*size, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return pdf_of(objects)
