"""An installation that cannot be written, for a user without a home folder: it extracts and serves."""

import json
import sys
from pathlib import Path
from subprocess import Popen

import pytest
from intaglio import Client

from tests.service.cli.conftest import start

HOOK = Path(__file__).parents[2] / "support" / "read_only"
SCHEMA = {
    "type": "object",
    "properties": {"invoice": {"type": "string"}, "total": {"type": "number"}},
    "required": ["invoice", "total"],
}
NOTE = "Invoice INV-2231, total 119.90 EUR."


@pytest.fixture
def read_only(tmp_path: Path) -> dict[str, str]:
    free = tmp_path / "free"
    free.mkdir()
    nowhere = "/nonexistent"
    return {
        "HOME": nowhere,
        "XDG_CACHE_HOME": nowhere,
        "TMPDIR": str(free),
        "PYTHONPATH": str(HOOK),
    }


def ended(process: "Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_the_file_system_of_this_test_is_read_only(
    tmp_path: Path, read_only: dict[str, str]
) -> None:
    """Otherwise the tests below would show nothing."""
    code = f"open({str(tmp_path / 'x')!r}, 'w')"
    process = Popen([sys.executable, "-c", code], env=read_only)
    assert process.wait(60) == 1
    assert not (tmp_path / "x").exists()
    code = f"open({read_only['TMPDIR'] + '/x'!r}, 'w')"
    assert Popen([sys.executable, "-c", code], env=read_only).wait(60) == 0


def test_it_extracts(tmp_path: Path, read_only: dict[str, str]) -> None:
    note, schema = tmp_path / "note.txt", tmp_path / "schema.json"
    note.write_text(NOTE)
    schema.write_text(json.dumps(SCHEMA))
    status, out, err = ended(start("extract", note, "--schema", schema, env=read_only))
    assert status == 0, err
    assert json.loads(out) == {"invoice": "INV-2231", "total": 119.9}
    assert "model embedded ready in" in err


def test_it_serves(read_only: dict[str, str]) -> None:
    process = start("serve", "--port", "0", env=read_only)
    assert process.stderr is not None
    banner = ""
    while "· http" not in banner:
        banner = process.stderr.readline()
        assert banner, "the server has ended"
    url = "http" + banner.partition("· http")[2].split()[0]
    try:
        with Client(url) as client:
            client.wait_until_ready(300)
            data = client.extract(SCHEMA, NOTE).data
    finally:
        process.terminate()
        _, err = process.communicate(timeout=300)
    assert data == {"invoice": "INV-2231", "total": 119.9}
    assert "Traceback" not in err
