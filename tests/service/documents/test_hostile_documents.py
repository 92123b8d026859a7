"""Hostile and odd files give a document or a document error, and the reader continues."""

from intaglio.service.documents.document_reader import DocumentReader

from tests.conformance.hostile_documents import MAKERS, files, read

# These exhaust the memory of their reader inside a library, which then ends the process.
FATAL = {"huge_sheet", "pdf_bomb"}


def test_hostile_files_are_read_or_refused_and_the_reader_goes_on() -> None:
    with DocumentReader(children=1) as reader:
        outcomes = [read(reader, kind, content) for kind, content in files(2 * len(MAKERS))]
        assert reader.read(b"a text").text == "a text"
    ended = {outcome.kind for outcome in outcomes if "ended its reader" in outcome.message}
    assert ended <= FATAL, "an exception that a reader does not expect"
    assert all(outcome.peak_bytes <= 256 << 20 for outcome in outcomes)
    codes = {outcome.code for outcome in outcomes}
    assert codes >= {
        *("document", "unreadable_document", "encrypted_document", "document_too_large"),
        *("no_text_layer", "unsupported_document"),
    }
