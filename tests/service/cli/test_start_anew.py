"""Programs as they start for users, and that tests may fork them instead (`tests/support/forked_programs.py`)."""

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.service.cli.conftest import start
from tests.support.forked_programs import forking
from tests.support.live_processes import commands
from tests.support.live_service import PATIENCE_S, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer", "maximum": 9}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_a_server_with_an_engine_in_two_processes_starts_as_users_start_it(tmp_path: Path) -> None:
    """The server, its engine, the engine's other rank and the examination of schemas are all new processes."""
    model = write_checkpoint(tmp_path / "tiny", {**LLAMA, "max_position_embeddings": 4096})
    divided = {"INTAGLIO_ENGINE_TP": "2", "INTAGLIO_ENGINE_TP_ANY_SIZE": "true"}
    with forking().anew():
        process = start("serve", "-m", model, "--port", "0", "--threads", "1", env=divided)
    try:
        assert process.stderr is not None
        banner = next(line for line in process.stderr if "· http" in line)
        url = "http" + banner.partition("· http")[2].split()[0]
        with httpx2.Client(base_url=url, timeout=PATIENCE_S) as http:
            until(lambda: http.get("/ready").status_code == 200)
            answer = http.post("/v1/extract", json={"schema": SCHEMA, "text": "a: 7"}).json()
        assert answer["valid"], answer
        below = commands(process.pid, recursive=True).values()
        entries = [word for command in below for word in command if "import main" in word]
        for entry in ("host.process", "ranks.rank_process", "intake.worker"):
            assert any(entry in word for word in entries), entries
        assert not any("program_parent" in word for word in entries)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def facts(*, anew: bool) -> dict[str, object]:
    """What other processes see of an engine that waits for its settings, and how it ends."""
    with forking().anew() if anew else nullcontext():
        engine = subprocess.Popen(
            [*launch().command, "/nowhere", "1"],
            stdin=subprocess.PIPE,
            cwd="/",
            env={**os.environ, "GIVEN": "1"},
            start_new_session=True,
        )
    assert engine.stdin is not None
    process = psutil.Process(engine.pid)
    until(lambda: process.cmdline()[-1:] == ["1"] and process.cwd() == "/")
    seen = {
        "has torch": "libtorch" in Path(f"/proc/{engine.pid}/maps").read_text("utf-8"),
        "parent": process.ppid(),
        "command": process.cmdline(),
        "session": os.getsid(engine.pid) == engine.pid,
        "program": process.exe(),
        "files": sorted(file.name for file in Path(f"/proc/{engine.pid}/fd").iterdir())[:3],
    }
    engine.stdin.close()
    return {**seen, "status": engine.wait(PATIENCE_S)}


def test_a_forked_program_is_like_a_new_one() -> None:
    """Only its libraries tell: the engine of this test needs no torch, but has it from the process it is forked of."""
    until(lambda: forking().is_ready)
    new, forked = facts(anew=True), facts(anew=False)
    assert (new.pop("has torch"), forked.pop("has torch")) == (False, True)
    assert forked == new


@pytest.mark.parametrize("words", [["--version"], ["no-such-command"], ["schema", "show", "none"]])
def test_a_forked_program_ends_like_a_new_one(words: list[str]) -> None:
    until(lambda: forking().is_ready)

    def ended() -> tuple[str, str, int]:
        process = start(*words)
        output, errors = process.communicate(timeout=PATIENCE_S)
        return output, errors, process.returncode

    with forking().anew():
        new = ended()
    assert ended() == new


READ_LATER = (
    *("PYTHONBREAKPOINT", "TORCHINDUCTOR_CACHE_DIR", "TMPDIR"),
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "PYTHONDONTWRITEBYTECODE"),
)


def test_programs_are_forked_whatever_variables_they_read_later() -> None:
    """Ray and transformers leave the first two in each process that imports them; a library path is another matter."""
    until(lambda: forking().is_ready)

    def has_torch(**more: str) -> bool:
        """Only what is forked has loaded it: this entry reads its settings first."""
        engine = subprocess.Popen(
            [*launch().command, "/nowhere", "1"], stdin=subprocess.PIPE, env={**os.environ, **more}
        )
        assert engine.stdin is not None
        process = psutil.Process(engine.pid)
        until(lambda: process.cmdline()[-1:] == ["1"])
        seen = "libtorch" in Path(f"/proc/{engine.pid}/maps").read_text("utf-8")
        engine.stdin.close()
        engine.wait(PATIENCE_S)
        return seen

    for name in READ_LATER:
        assert has_torch(**{name: "0"}), name
    assert not has_torch(LD_LIBRARY_PATH="/nowhere")


def test_a_forked_program_has_its_own_folder_for_temporary_files(tmp_path: Path) -> None:
    until(lambda: forking().is_ready)
    code = "from tests.support.scripted_engine import launch\nimport tempfile\nprint(tempfile.gettempdir())"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(tmp_path)


def test_a_forked_program_has_what_it_is_given(tmp_path: Path) -> None:
    """Standard input, folder and environment; and it may be killed."""
    until(lambda: forking().is_ready)
    (tmp_path / "schema.json").write_text("{")
    process = start("schema", "check", "schema.json", cwd=tmp_path)
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert "schema.json" in output + errors
    os.mkfifo(tmp_path / "pipe")
    process = start("schema", "infer", tmp_path / "pipe")
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGKILL
