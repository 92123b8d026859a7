"""One service over the scripted engine, with OpenAI's own client, which validates strictly."""

from collections.abc import Iterator

import openai
import pytest

from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    with live(launch(), folder) as running:
        yield running


@pytest.fixture(scope="session")
def client(served: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{served.url}/v1",
        api_key="any",
        max_retries=0,
        _strict_response_validation=True,
    ) as found:
        yield found
