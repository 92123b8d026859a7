"""One service over the scripted engine, with OpenAI's own client, which validates strictly."""

from collections.abc import Iterator

import openai
import pytest

from tests.support.live_service import Live


@pytest.fixture(scope="session")
def served(plain_service: Live) -> Live:
    return plain_service


@pytest.fixture(scope="session")
def client(served: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(
        base_url=f"{served.url}/v1",
        api_key="any",
        max_retries=0,
        _strict_response_validation=True,
    ) as found:
        yield found
