"""Asking for the files of a checkpoint: all of them, if memory holds them, and without torch."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from intaglio.engine.model.page_cache import LEFT_BYTES, read_ahead

BYTES = 5 << 20


def is_cached(file: int, at: int) -> bool:
    try:
        return os.preadv(file, [bytearray(1)], at, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False


def written(folder: Path) -> list[Path]:
    files = [folder / f"{number}.safetensors" for number in range(2)]
    for path in files:
        with path.open("wb") as file:
            file.write(bytes(BYTES))
            file.flush()
            os.fsync(file.fileno())
    return files


def test_all_files_are_in_the_cache_soon(tmp_path: Path) -> None:
    for path in written(tmp_path):
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        try:
            if is_cached(file, BYTES - 1):
                pytest.skip("files of this folder cannot be dropped from the cache")
        except OSError:
            pytest.skip("this file system does not say what is cached")
        finally:
            os.close(file)
    thread = read_ahead(tmp_path)
    assert thread is not None
    thread.join(10)
    for path in sorted(tmp_path.iterdir()):
        with path.open("rb") as opened:
            until = time.monotonic() + 10
            while not all(is_cached(opened.fileno(), at) for at in range(0, BYTES, 4096)):
                assert time.monotonic() < until
                time.sleep(0.01)


def test_nothing_is_asked_for_without_memory_or_files(tmp_path: Path) -> None:
    assert read_ahead(tmp_path) is None
    assert read_ahead(tmp_path / "missing") is None
    written(tmp_path)
    assert read_ahead(tmp_path, 2 * BYTES + LEFT_BYTES - 1) is None
    thread = read_ahead(tmp_path, 2 * BYTES + LEFT_BYTES)
    assert thread is not None
    thread.join(10)
    assert not thread.is_alive()


def test_the_process_of_an_engine_asks_before_it_loads_torch() -> None:
    code = "import sys, intaglio.engine.host.process; raise SystemExit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
