"""The synchronous client is the asynchronous one without its awaits, and nothing else."""

from tests.support.sync_client import GENERATED, generated


def test_the_generated_client_is_fresh() -> None:
    assert GENERATED.read_text(encoding="utf-8") == generated(), "run `make sync-client`"
