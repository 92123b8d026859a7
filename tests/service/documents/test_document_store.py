"""Kept documents: apart by tenant, for a time, within bounds of bytes, and shared by processes."""

from pathlib import Path

import pytest
from intaglio.service.documents.document_store import KEPT_S, DocumentStore
from intaglio.service.documents.parsed_document import PLAIN, ParsedDocument
from intaglio.service.errors import DocumentTooLarge, ServiceNotReady, UnknownDocument

TEXT = ParsedDocument(PLAIN, "text")


class Clock:
    def __init__(self) -> None:
        self.now = 1e9

    def __call__(self) -> float:
        self.now += 1e-3
        return self.now


def test_a_document_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    store = DocumentStore(tmp_path / "d.db")
    kept = store.add("a", "name", TEXT, b"bytes")
    assert DocumentStore(tmp_path / "d.db").get("a", kept.id) == kept
    store.delete("a", kept.id)
    with pytest.raises(UnknownDocument):
        store.get("a", kept.id)


def test_tenants_see_only_their_own() -> None:
    store = DocumentStore()
    kept = store.add("a", None, TEXT, b"")
    with pytest.raises(UnknownDocument):
        store.get("b", kept.id)
    with pytest.raises(UnknownDocument):
        store.delete("b", kept.id)
    assert store.get("a", kept.id) == kept


def test_a_document_expires() -> None:
    clock = Clock()
    store = DocumentStore(clock=clock)
    kept = store.add("a", None, TEXT, b"")
    clock.now += KEPT_S
    with pytest.raises(UnknownDocument):
        store.get("a", kept.id)


def test_the_oldest_documents_make_room() -> None:
    store = DocumentStore(clock=Clock(), tenant_bytes=1000, total_bytes=1500)
    first = store.add("a", None, TEXT, bytes(400))
    second = store.add("a", None, TEXT, bytes(400))
    third = store.add("a", None, TEXT, bytes(400))
    with pytest.raises(UnknownDocument):
        store.get("a", first.id)
    assert store.get("a", third.id) == third
    other = store.add("b", None, TEXT, bytes(900))
    with pytest.raises(UnknownDocument):
        store.get("a", second.id)
    assert store.get("a", third.id) == third
    assert store.get("b", other.id) == other
    with pytest.raises(DocumentTooLarge):
        store.add("a", None, TEXT, bytes(1000))


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ServiceNotReady):
        DocumentStore(tmp_path / "missing" / "d.db")
    store = DocumentStore()
    store.close()
    with pytest.raises(ServiceNotReady):
        store.add("a", None, TEXT, b"")
