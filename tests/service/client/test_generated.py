"""The synchronous client is generated from the asynchronous one."""

from pathlib import Path

import pytest

from tests.support.sync_client import FILES, generated


@pytest.mark.parametrize("written", FILES, ids=lambda path: path.name)
def test_the_synchronous_client_is_up_to_date(written: Path) -> None:
    assert FILES[written].read_text(encoding="utf-8") == generated(written), (
        "run `make sync-client`"
    )
