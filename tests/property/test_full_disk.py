"""A sample of `full_disk`: every kind of call once or twice, and two sizes of files."""

from pathlib import Path

from tests.property import full_disk


def test_a_job_ends_with_an_error_and_recovers(tmp_path: Path) -> None:
    struck = full_disk.rounds(tmp_path, range(3, 40, 9), range(1, 60, 56))
    assert struck["point"] >= 3
    assert struck["size"] >= 1
