"""What the readers make of files, good and rotten."""

import gzip
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from intaglio.schemas.jobs import Source
from intaglio.service.jobs.readers import records
from intaglio.service.jobs.readers.csv_tsv import MOST_CELL
from intaglio.service.jobs.readers.xml import MOST_TEXT_BYTES
from intaglio.service.jobs.records.errors import InputRefused
from intaglio.service.jobs.records.record import Record, Rejected

from tests.support.document_files import docx, drawn_pdf, paragraph, pdf


def read(path: Path, **asked: object) -> list[Record | Rejected]:
    source = Source.model_validate({"path": str(path), **asked}, strict=False)
    return list(records(source, path))


def texts(found: list[Record | Rejected]) -> list[str]:
    return [one.text if isinstance(one, Record) else f"!{one.reason}" for one in found]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    path.write_text('id,body,n\n1,"one, two",3\n2,"line\nbreak",4\n\n3,"say ""hi""",5\n')
    return path


def test_a_table_gives_its_columns(table: Path) -> None:
    found = read(table, text="body", id="id", keep=("n",))
    assert found == [
        Record("one, two", "1", {"n": "3"}),
        Record("line\nbreak", "2", {"n": "4"}),
        Record('say "hi"', "3", {"n": "5"}),
    ]


@pytest.mark.parametrize("asked", [{}, {"keep": ("n",)}])
def test_a_table_without_a_column_for_the_text_names_its_columns(table: Path, asked: Any) -> None:
    with pytest.raises(InputRefused, match="no column is named for the text") as refused:
        read(table, **asked)
    assert "there are: id, body, n" in refused.value.hint


def test_a_template_is_filled(table: Path) -> None:
    assert read(table, template="{{{n}}}: {body}")[0] == Record("{3}: one, two")


@pytest.mark.parametrize("template", ["{", "a } b", "{}", "{a{b}"])
def test_a_stray_brace_is_named(table: Path, template: str) -> None:
    with pytest.raises(InputRefused, match="stray"):
        read(table, template=template)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        f"id{delimiter}body\n1{delimiter}a,b;c\n"
        if delimiter not in ",;"
        else f"id{delimiter}body\n1{delimiter}x\n"
    )
    assert isinstance(read(path, text="body", id="id")[0], Record)


def test_tsv_by_name(tmp_path: Path) -> None:
    path = tmp_path / "in.tsv"
    path.write_text("a\tb\n1,2\tx\n")
    assert texts(read(path, text="b", format="tsv")) == ["x"]


def test_broken_rows_are_refused_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(
        'id,body\n1,fine\n2,too,many\n3\n4,"bad" quote\n5,\x00nul\n6,"never closed\n7,fine too\n8,last\n'
    )
    found = read(path, text="body", id="id")
    assert [one.pointer if isinstance(one, Rejected) else one.text for one in found] == [
        "fine",
        "/line/3",
        "/line/4",
        "/line/5",
        "/line/6",
        "/line/7",
        "fine too",
        "last",
    ]


def test_a_cell_of_ten_megabytes_is_refused_and_the_rest_read(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(f"id,body\n1,{'x' * 10_000_000}\n2,fine\n")
    first, second = read(path, text="body", id="id")
    assert isinstance(first, Rejected)
    assert "10000000 characters" in first.reason
    assert first.id == "1"
    assert second == Record("fine", "2")


def test_a_line_without_end_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text(f"id,body\n1,{'x' * (MOST_CELL + 4000)}\n2,fine\n")
    assert texts(read(path, text="body", delimiter=","))[-1] == "fine"


@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", None),
        ("utf-16-le", None),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, named: str | None) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes("id,body\n1,Größe café\n".encode(encoding))
    assert texts(read(path, text="body", encoding=named)) == ["Größe café"]


def test_a_text_that_is_no_utf8_is_refused_with_a_guess(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes("id,body\n1,déjà vu à la carte\n".encode("cp1252"))
    with pytest.raises(InputRefused, match=r"not UTF-8.*looks like"):
        read(path, text="body")


def test_bad_bytes_in_a_utf8_table_cost_their_row_only(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes("id,body\n1,schön\n2,".encode() + b"\xff\xfe" + "\n3,größer\n".encode())
    found = read(path, text="body", id="id")
    assert texts(found) == ["schön", "!bytes that are invalid in the encoding", "größer"]


def test_an_unknown_encoding_is_named(table: Path) -> None:
    with pytest.raises(InputRefused, match="no encoding 'latin-x'"):
        read(table, text="body", encoding="latin-x")


def test_packed_files(tmp_path: Path, table: Path) -> None:
    packed = tmp_path / "in.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    assert read(packed, text="body") == read(table, text="body")
    zstd = tmp_path / "in.csv.zst"
    zstd.write_bytes(pa.compress(table.read_bytes(), codec="zstd", asbytes=True))
    # One frame without its size in the header is what the tool writes; pyarrow's has it.
    assert read(zstd, text="body") == read(table, text="body")


def test_a_damaged_gzip_is_refused(tmp_path: Path, table: Path) -> None:
    packed = tmp_path / "in.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes() * 1000)[:-30])
    with pytest.raises(InputRefused, match="damaged"):
        read(packed, text="body", delimiter=",")


def test_a_bomb_is_stopped_in_little_memory(tmp_path: Path) -> None:
    packed = tmp_path / "in.csv.gz"
    with gzip.open(packed, "wb") as file:
        file.write(b"id,body\n")
        for _ in range(64):
            file.write((b"1," + b"x" * 2045 + b"\n") * 512)
    tracemalloc.start()
    source = Source(path=str(packed), text="body", delimiter=",")
    with pytest.raises(InputRefused, match="more than 200 times"):
        for _ in records(source, packed):
            pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_a_zip_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "id,body\n")
    with pytest.raises(InputRefused, match="ZIP"):
        read(path, text="body")


def test_an_empty_table_and_a_missing_column(tmp_path: Path, table: Path) -> None:
    empty = tmp_path / "empty.csv"
    empty.touch()
    with pytest.raises(InputRefused, match="empty"):
        read(empty, text="body")
    with pytest.raises(InputRefused, match="no column 'text'") as caught:
        read(table, text="text")
    assert "id, body, n" in caught.value.hint


def test_no_file_and_no_format(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="No such file"):
        read(tmp_path / "none.csv", text="body")
    with pytest.raises(InputRefused, match="does not say what"):
        read(tmp_path / "none.bin", text="body")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"id": 7, "doc": {"body": "one"}}\n\n[1]\n{"id": 8}\n{"id":1,"id":2}\n{"id": "x", "doc": {"body": null}}\n'
    )
    found = read(path, text="/doc/body", id="id")
    assert found[0] == Record("one", "7")
    assert texts(found)[1:] == [
        "!the line is not a JSON object",
        "!the object has no '/doc/body'",
        "!the line is not JSON: an object has the key 'id' twice",
        "!the document is empty",
    ] or [one.pointer for one in found[1:] if isinstance(one, Rejected)] == [
        "/line/3",
        "/line/4",
        "/line/5",
        "/line/6",
    ]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ('[\n  {"id": 1, "body": "one"},\n  {"id": 2, "body": "two"}\n]\n', "one JSON array"),
        ('[{"id": 1, "body": "one"},\n{"id": 2, "body": "two"}]', "one JSON array"),
        ('\n\n[{"id": 1, "body": "one"}]', "one JSON array"),
        ('\ufeff[\n{"id": 1, "body": "one"}\n]', "one JSON array"),
        ('{\n  "id": 1,\n  "body": "one"\n}\n', "one JSON object of several lines"),
    ],
)
def test_a_json_file_that_is_named_jsonl_is_told_with_the_way_to_lines(
    tmp_path: Path, written: str, told: str
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(written, encoding="utf-8")
    with pytest.raises(InputRefused, match=f"in.jsonl is {told}, not JSON Lines") as caught:
        read(path, text="body")
    assert "jq -c" in caught.value.hint
    assert "> in-lines.jsonl" in caught.value.hint
    with pytest.raises(InputRefused, match="may be JSON Lines") as unsure:
        read(path.rename(tmp_path / "in.json"), text="body")
    assert "jsonl" in unsure.value.hint


@pytest.mark.parametrize("odd", ["[1]", "[1", "no", "["])
def test_an_odd_line_among_objects_is_the_fault_of_its_record(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"body": "one"}\n' + odd + '\n{"body": "two"}\n')
    found = texts(read(path, text="body"))
    assert (found[0], found[1][0], found[2]) == ("one", "!", "two")


@pytest.mark.parametrize(
    ("name", "more", "field", "told"),
    [
        ("in.jsonl", {"record": "a/b"}, "record", "for XML, and this source is JSON Lines"),
        ("in.csv", {"record": "a/b"}, "record", "for XML, and this source is CSV"),
        ("in.jsonl", {"delimiter": ";"}, "delimiter", "for CSV and TSV"),
        ("in.xml", {"delimiter": ";", "record": "a"}, "delimiter", "for CSV and TSV"),
        ("in.parquet", {"encoding": "cp1252"}, "encoding", "this source is Parquet"),
        ("in.txt", {}, "text", "this source is text files"),
        (".", {"text": None, "id": "id"}, "id", "this source is text files"),
        ("*.txt", {"text": None, "keep": ("id",)}, "keep", "this source is text files"),
        ("in.md", {"text": None, "template": "{body}"}, "template", "this source is text files"),
        ("in.txt", {"text": None, "images": ("photo",)}, "images", "this source is text files"),
    ],
)
def test_an_option_that_would_be_ignored_is_refused_with_its_name(
    tmp_path: Path, name: str, more: dict[str, Any], field: str, told: str
) -> None:
    for each in ("in.jsonl", "in.csv", "in.xml", "in.parquet", "in.txt", "in.md"):
        (tmp_path / each).write_text('{"body": "one"}\n')
    with pytest.raises(InputRefused, match=told) as caught:
        read(tmp_path / name, **{"text": "body", **more})
    assert caught.value.param == f"source.{field}"
    assert "omit it" in caught.value.hint


def test_columns_of_one_name_are_named_with_their_places(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("id,body,note,body,note,body\n1,a,b,c,d,e\n")
    with pytest.raises(InputRefused, match="3 columns are named 'body': columns 2, 4 and 6"):
        read(path, text="body")
    assert texts(read(path, text="id")) == ["1"], "no name that is used"


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    columns = {"id": [1, 2], "body": ["a", None], "tags": [["x"], []]}
    pq.write_table(pa.table(columns), path)
    found = read(path, text="body", id="id", keep=("tags",))
    assert found[0] == Record("a", "1", {"tags": ["x"]})
    assert texts(found)[1] == "!the document is empty"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(InputRefused, match="cannot read"):
        read(path, text="body")


def test_a_record_of_parquet_with_two_fields_of_one_name_is_refused(tmp_path: Path) -> None:
    path, one = tmp_path / "in.parquet", pa.array([1])
    twice = pa.StructArray.from_arrays([one, one], names=["a", "a"])
    rows = pa.ListArray.from_arrays(pa.array([0, 1]), twice)
    columns = {"body": pa.array(["text"]), "twice": twice}
    columns["in"] = pa.StructArray.from_arrays([rows], names=["b"])
    pq.write_table(pa.table(columns), path)
    with pytest.raises(InputRefused, match="'twice' has two fields named 'a'"):
        read(path, text="body", keep=("twice",))
    with pytest.raises(InputRefused, match=r"'in\.b' has two fields named 'a'"):
        read(path, text="body", keep=("in",))
    assert texts(read(path, text="body")) == ["text"]


def test_a_row_of_parquet_whose_text_is_not_utf8_is_rejected_alone(tmp_path: Path) -> None:
    parts = pa.array([b"one", b"\xff\xfe", b"three"], pa.binary()).buffers()
    pq.write_table(
        pa.table({"t": pa.Array.from_buffers(pa.string(), 3, parts)}), tmp_path / "in.parquet"
    )
    first, second, third = read(tmp_path / "in.parquet", text="t")
    assert [first, third] == [Record("one"), Record("three")]
    assert second == Rejected("the field 't' is not valid UTF-8", "/row/2")


XML = '<c><m>{pad}</m><item id="1"><t>one</t><p>x<b>y</b></p></item><item id="2"><t>two</t></item></c>'


def test_xml_records(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    path.write_text(XML)
    assert read(path, record="c/item", id="@id", text="t", keep=("@id",)) == [
        Record("one", "1", {"@id": "1"}),
        Record("two", "2", {"@id": "2"}),
    ]
    assert texts(read(path, record="item")) == ["one\nx\ny", "two"]
    assert texts(read(path, record="c/*", text="t"))[0] == "!the element has no 't'"
    with pytest.raises(InputRefused, match="no element is at"):
        read(path, record="c/entry")
    with pytest.raises(InputRefused, match="record elements"):
        read(path, text="t")


def test_all_elements_of_one_name_are_read(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    path.write_text('<c><i><p k="1">one</p><p k="2">two</p><m><a>x</a></m><m><a>y</a></m></i></c>')
    (record,) = read(path, record="i", text="p", keep=("m/a", "p/@k"))
    assert record == Record("one\ntwo", None, {"m/a": "x\ny", "p/@k": "1\n2"})


def test_attributes_are_named_without_their_namespace(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    path.write_text('<c xmlns:m="u:m"><i m:k="other" k="own" xml:lang="en"><t>one</t></i></c>')
    (record,) = read(path, record="i", text="t", keep=("@lang", "@k"))
    assert record == Record("one", None, {"@lang": "en", "@k": "own"})
    with pytest.raises(InputRefused, match="has '@long'") as refused:
        read(path, record="i", text="t", keep=("@long",))
    assert "did you mean '@lang'?" in refused.value.hint


def test_what_stops_xml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    path.write_text("<c><i>one</i>\n<i>a&nbsp;b</i></c>")
    with pytest.raises(InputRefused, match="Entity 'nbsp' not defined, line 2") as refused:
        read(path, record="i")
    assert "&#160;" in refused.value.hint
    path.write_text(f"<c><i>{'a' * (MOST_TEXT_BYTES + 100_000)}</i></c>")
    with pytest.raises(InputRefused, match="has a text of more than 10000000 bytes"):
        read(path, record="i")


def test_a_kept_value_that_a_record_lacks_is_null(tmp_path: Path) -> None:
    lines, xml = tmp_path / "in.jsonl", tmp_path / "in.xml"
    lines.write_text('{"t": "one", "k": 1}\n{"t": "two"}\n{"k": 3}\n')
    first, second, third = read(lines, text="t", keep=("k",))
    assert [first, second] == [Record("one", None, {"k": 1}), Record("two", None, {"k": None})]
    assert texts([third]) == ["!the object has no 't'"]
    xml.write_text('<c><i k="1"><t>one</t></i><i><t>two</t></i></c>')
    for text in ("t", None):
        first, second = read(xml, record="i", text=text, keep=("@k",))
        assert first == Record("one", None, {"@k": "1"})
        assert second == Record("two", None, {"@k": None})


@pytest.mark.parametrize("field", [{"text": "titel"}, {"keep": ("titel",)}, {"id": "titel"}])
def test_a_misspelled_element_is_refused_with_a_guess(tmp_path: Path, field: Any) -> None:
    path = tmp_path / "in.xml"
    path.write_text('<c><i k="1"><title>one</title></i><i/></c>')
    with pytest.raises(InputRefused, match="no element at 'c/i' has 'titel'") as refused:
        read(path, record="c/i", **field)
    assert "did you mean 'title'?" in refused.value.hint


def test_a_column_that_is_kept_twice_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("t,k\none,1\n")
    source = Source(path=str(path), text="t", keep=("k", "t", "k"))
    assert source.keep == ("k", "t")


@pytest.mark.parametrize("template", ["no field", "{{t}}", ""])
def test_a_template_without_a_field_is_refused(tmp_path: Path, template: str) -> None:
    path = tmp_path / "in.csv"
    path.write_text("t\none\n")
    with pytest.raises(InputRefused, match="the template has no field"):
        read(path, template=template)


@pytest.mark.parametrize(
    "head",
    [
        '<!DOCTYPE c [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE c SYSTEM "http://localhost:1/x.dtd">',
        '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    ],
)
def test_definitions_are_refused(tmp_path: Path, head: str) -> None:
    path = tmp_path / "in.xml"
    path.write_text(f"{head}<c><item>&a;</item></c>")
    with pytest.raises(InputRefused, match="DOCTYPE"):
        read(path, record="c/item")


def test_what_stands_before_a_breach_in_xml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    path.write_text("<c><item>one</item><item>two</item><item>")
    source = Source(path=str(path), record="c/item")
    every = records(source, path)
    found = [next(every), next(every)]
    with pytest.raises(InputRefused, match="not well-formed"):
        next(every)
    assert texts(found) == ["one", "two"]


def test_deep_xml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "in.xml"
    path.write_text("<c>" + "<i>" * 5000)
    with pytest.raises(InputRefused, match=r"deeper|not well-formed"):
        read(path, record="c/i")


def test_memory_does_not_grow_with_an_xml_file(tmp_path: Path) -> None:
    peaks = []
    for count in (1_000, 8_000):
        path = tmp_path / f"{count}.xml"
        body = "".join(
            f'<item id="{i}"><t>{"word " * 20}</t></item><x>{i}</x>' for i in range(count)
        )
        path.write_text(f"<c>{body}</c>")
        tracemalloc.start()
        source = Source(path=str(path), record="c/item", text="t")
        assert sum(1 for _ in records(source, path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.5 + (1 << 20)


def test_a_folder_of_documents(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([["one"]]))
    (tmp_path / "b.txt").write_bytes(pdf([["two"]]))
    (tmp_path / "c.html").write_text("<p>three</p>")
    (tmp_path / "d.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "e.pdf").write_bytes(pdf([["text"], []]))
    (tmp_path / "f.docx").write_bytes(docx(paragraph("four")))
    (tmp_path / "g.txt").write_text("five")
    (tmp_path / "h.pdf").write_bytes(drawn_pdf([b"BT /F1 12 Tf 40 200 Td (six) Tj ET", b""]))
    found = read(tmp_path)
    assert [record for record in found if isinstance(record, Record)] == [
        Record("one", "a.pdf"),
        Record("two", "b.txt"),
        Record("three", "c.html"),
        Record("four", "f.docx"),
        Record("five", "g.txt"),
        Record("six", "h.pdf"),
    ]
    rejected = [record for record in found if isinstance(record, Rejected)]
    assert [(record.id, record.code) for record in rejected] == [
        ("d.pdf", "unreadable_document"),
        ("e.pdf", "no_text_layer"),
    ]
    assert "pages 2" in rejected[1].reason
    assert texts(read(tmp_path / "a.pdf")) == ["one"]


def test_a_folder_of_texts(tmp_path: Path) -> None:
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "b.txt").write_text("two")
    (tmp_path / "in" / "a.md").write_text("one")
    (tmp_path / "in" / "sub" / "c.txt").write_text("three")
    (tmp_path / "in" / "no.bin").write_text("no")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "secret.txt")
    assert read(tmp_path / "in") == [
        Record("one", "a.md"),
        Record("two", "b.txt"),
        Record("three", "sub/c.txt"),
    ]
    assert texts(read(tmp_path / "in" / "*.txt")) == ["two", "secret"]
    with pytest.raises(InputRefused, match="no texts or documents"):
        read(tmp_path / "in" / "*.csv", format="text")
