"""Short runs of the fuzzers: no request ends an engine. The long ones are commands, see their modules."""

from pathlib import Path

from tests.fuzz import engine_door, http_door


def test_no_request_at_its_own_door_ends_an_engine(tmp_path: Path) -> None:
    found = engine_door.run(seed=15, seconds=12.0, folder=tmp_path)
    for tally in found.values():
        assert tally.sent > 0
        # Both sides of the door were reached: requests that ran, and requests that were refused.
        assert {"length", "invalid_request"} <= tally.ends.keys()


def test_no_body_ends_an_engine(tmp_path: Path) -> None:
    found = http_door.run(seed=15, seconds=10.0, folder=tmp_path)
    assert {"ok", "invalid_request"} <= found.keys()
