"""Commands that read a file whole take no pipe and no device: reading one may never end."""

import os
from pathlib import Path

import pytest
from intaglio.service.cli.commands import app
from typer.testing import CliRunner

COMMANDS = {
    "view": ("view", "{}", "-o", "page.html"),
    "eval": ("eval", "{}"),
    "calibrate": ("calibrate", "{}", "-o", "calibration.json"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_refused_at_once(command: str, kind: str, tmp_path: Path) -> None:
    source = tmp_path / "gold.jsonl"
    if kind == "pipe":
        os.mkfifo(source)
    else:
        source.symlink_to("/dev/zero")
    arguments = [part.format(source) for part in COMMANDS[command]]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "it is a pipe or a device" in " ".join(done.stderr.split())
