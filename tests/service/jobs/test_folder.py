"""The folder of a server's files: no content of it leads out of it."""

import os
from pathlib import Path

import pytest
from intaglio.service.jobs.folder import DataFolder
from intaglio.service.jobs.records.errors import InputRefused, UnknownFile


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "data", 1000)
    files = tmp_path / "data" / "files"
    (tmp_path / "secret.csv").write_text("id,body\n1,secret\n")
    (files / "good.csv").write_text("id,body\n")
    (files / "link.csv").symlink_to(tmp_path / "secret.csv")
    (files / "dangling.csv").symlink_to(tmp_path / "nothing")
    (files / "folder.csv").mkdir()
    os.mkfifo(files / "pipe.csv")
    return made


def test_only_files_are_named_and_found(folder: DataFolder) -> None:
    assert folder.names() == {"good.csv": 8}
    assert folder.path("good.csv").read_text() == "id,body\n"
    for name in ("link.csv", "dangling.csv", "folder.csv", "pipe.csv", "none.csv"):
        with pytest.raises(UnknownFile):
            folder.path(name)
        with pytest.raises(UnknownFile):
            folder.delete(name)


@pytest.mark.parametrize(
    "name", ["../secret.csv", "..", ".", "/etc/passwd", "a/b", "", ".hidden", "a\0b", "x" * 129]
)
def test_paths_are_no_names(folder: DataFolder, name: str) -> None:
    with pytest.raises(InputRefused, match="not a valid file name"):
        folder.path(name)
