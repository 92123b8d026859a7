"""`LLM` and the command line read files themselves, with the same results as a service."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from intaglio.service.client import DocumentRefused
from intaglio.service.offline.llm import LLM
from intaglio.service.offline.offline_documents import OfflineDocuments

from tests.support.document_files import mail, pdf
from tests.support.modelless_engine import engine_info
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA = {"enum": ["yes", "no"]}
INFO = engine_info(model="tiny")
"""Of a model that reads no images."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", LLAMA)


@pytest.fixture
def documents() -> Iterator[OfflineDocuments]:
    with closing(OfflineDocuments(INFO)) as found:
        yield found


def test_a_program_extracts_from_a_file(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([["yes"], ["no"]]))
    with LLM(folder) as llm:
        found = llm.extract(SCHEMA, file=path, grounding="locate")
        assert found.data in SCHEMA["enum"]
        assert found.document is not None
        assert (found.document.name, found.document.pages) == ("a.pdf", 2)
        assert found.fields[""].page == SCHEMA["enum"].index(found.data) + 1
        assert json.loads(json.dumps(found.raw))["fields"][""]["boxes"]
        with pytest.raises(DocumentRefused):
            llm.extract(SCHEMA, file=b"%PDF-1.7")
        assert llm.extract(SCHEMA, "a text").document is None


def test_texts_pass_and_files_are_read(documents: OfflineDocuments) -> None:
    assert documents.source("text", {"seed": 1}).options == {"seed": 1}
    found = documents.source(None, {"file": ("m.eml", mail("x", attached={"a.pdf": pdf([["y"]])}))})
    assert found.content.text.endswith("\n\nx")
    attached = {"file": mail("x", attached={"a.pdf": pdf([["y"]])}), "attachment": 0}
    assert documents.source(None, attached).content.text == "y"
    with pytest.raises(FileNotFoundError):
        documents.source(None, {"file": "missing.pdf"})
    for text, options in ((None, {}), ("a", {"file": b"b"}), ("a", {"attachment": 0})):
        with pytest.raises(TypeError):
            documents.source(text, options)
