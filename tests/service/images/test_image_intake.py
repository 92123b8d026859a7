"""Images in chat completions, over the real engine with a small model that reads images, by OpenAI's own client.

All of it for each family with vision, and one extraction.
"""

import base64
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import openai
import pytest
from intaglio.engine.api import EngineConfig, Launch, Watch
from PIL import Image

from tests.support.live_service import Live, live, until
from tests.support.tiny_vision import QWEN3_VL, QWEN25_VL, WORD, picture, write_vision_checkpoint

MOST = 3


@pytest.fixture(scope="module", params=[QWEN25_VL, QWEN3_VL], ids=["qwen2.5-vl", "qwen3-vl"])
def service(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Live]:
    folder = write_vision_checkpoint(tmp_path_factory.mktemp("models") / "tiny-vl", request.param)
    engine = EngineConfig.load(
        {"model": str(folder), "num_blocks": 256, "grammar_warm": 0}, environ={}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        watch = Watch(backoff_s=0.05, silence_s=600.0)
        with live(
            Launch.of(engine), folder, watch=watch, max_images=MOST, max_image_tokens=30
        ) as running:
            until(lambda: running.http.get("/ready").status_code == 200)
            yield running


@pytest.fixture(scope="module")
def client(service: Live) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key="any", max_retries=0) as found:
        yield found


def _url(seed: int = 0, size: tuple[int, int] = (84, 56)) -> str:
    colours = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), np.uint8)
    written = io.BytesIO()
    Image.fromarray(colours).save(written, "PNG")
    return "data:image/png;base64," + base64.b64encode(written.getvalue()).decode()


def _messages(*urls: str, text: str = "What is it?", role: str = "user", **image: Any) -> Any:
    parts = [{"type": "image_url", "image_url": {"url": url, **image}} for url in urls]
    return [{"role": role, "content": [*parts, {"type": "text", "text": text}]}]


def _ask(client: openai.OpenAI, messages: Any, **options: Any) -> Any:
    given = {"max_tokens": 6, "temperature": 0, "logprobs": True, **options}
    return client.chat.completions.create(model="tiny-vl", messages=messages, **given)


def _scores(answer: Any) -> list[float]:
    return [each.logprob for each in answer.choices[0].logprobs.content]


def test_an_image_is_read_counted_and_shared(client: openai.OpenAI) -> None:
    text = _ask(client, [{"role": "user", "content": "What is it?"}])
    seen = _ask(client, _messages(_url(1)))
    assert seen.usage.prompt_tokens == text.usage.prompt_tokens + 2 + 6  # two marks, 2 x 3 cells
    details = seen.usage.prompt_tokens_details.model_dump()
    assert details["image_tokens"] == 6
    again = _ask(client, _messages(_url(1)))
    assert again.usage.prompt_tokens_details.cached_tokens > 0
    assert _scores(again) == pytest.approx(_scores(seen), abs=1e-3)
    assert _scores(seen) != pytest.approx(_scores(text), abs=1e-3)


def test_another_image_shares_no_block(client: openai.OpenAI) -> None:
    """The tokens are the same: only the pixels differ, and with them the answer."""
    first = _ask(client, _messages(_url(2, (140, 140)), text="x" * 80))
    other = _ask(client, _messages(_url(3, (140, 140)), text="x" * 80))
    assert other.usage.prompt_tokens == first.usage.prompt_tokens
    assert other.usage.prompt_tokens_details.cached_tokens == 0
    assert _scores(other) != pytest.approx(_scores(first), abs=1e-3)


def test_an_answer_about_an_image_meets_its_schema(client: openai.OpenAI) -> None:
    schema = {"enum": ["cat", "dog"]}
    form = {"type": "json_schema", "json_schema": {"name": "animal", "schema": schema}}
    answer = _ask(client, _messages(_url(4), _url(5)), response_format=form, max_tokens=20)
    assert answer.choices[0].message.content in ('"cat"', '"dog"')


def test_an_image_has_at_most_the_tokens_that_are_set(client: openai.OpenAI) -> None:
    answer = _ask(client, _messages(_url(6, (600, 400))))
    assert 20 < answer.usage.prompt_tokens_details.model_dump()["image_tokens"] <= 30


def test_an_extraction_reads_an_image(service: Live) -> None:
    """The answer depends on the image, and on nothing that was read before."""
    found = []
    for seed in (7, 8, 7):
        images = [{"base64": base64.b64encode(picture(seed)).decode()}]
        answer = service.http.post("/v1/extract", json={"schema": WORD, "images": images})
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
    assert found[0]["images"][0]["tokens"] == 6
    assert found[0]["data"] == found[2]["data"] != found[1]["data"]


PLACE = "messages.0.content.0.image_url.url"

REFUSED: list[tuple[Any, str, str]] = [
    (_messages("https://example.com/a.png"), PLACE, "not fetched from https"),
    (_messages("http://example.com/a.png"), PLACE, "not fetched from http"),
    (_messages("file:///etc/passwd"), PLACE, "not fetched from file"),
    (_messages("a.png"), PLACE, "must be a data URL"),
    (_messages("data:text/html;base64,AAAA"), PLACE, "must be a data URL"),
    (_messages("data:image/png;base64,A*A="), PLACE, "base64 of the image is invalid"),
    (_messages("data:image/png;base64,"), PLACE, "empty"),
    (_messages("data:image/png;base64,AAAA"), PLACE, "no image that is read"),
    (_messages(_url(), role="system"), PLACE, "of the user only"),
    (_messages(*[_url()] * (MOST + 1)), f"messages.0.content.{MOST}.image_url.url", "at most 3"),
    (_messages(_url(), detail="huge"), "messages.0.content", "detail"),
]


@pytest.mark.parametrize(("messages", "param", "reason"), REFUSED)
def test_rubbish_is_refused_by_its_place(
    messages: Any, param: str, reason: str, client: openai.OpenAI
) -> None:
    with pytest.raises(openai.APIStatusError, match=reason) as caught:
        _ask(client, messages)
    assert 400 <= caught.value.status_code < 500
    assert isinstance(caught.value.body, dict)
    assert param.split(".")[0] in str(caught.value.body["param"])


def test_tokens_of_images_are_not_listed(service: Live) -> None:
    answer = service.http.post("/tokenize", json={"messages": _messages(_url())})
    assert answer.status_code == 400
    assert "not listed" in answer.text


def test_text_cannot_spell_an_image(client: openai.OpenAI) -> None:
    plain = _ask(client, [{"role": "user", "content": "<|image_pad|>"}])
    assert not plain.usage.prompt_tokens_details.model_dump().get("image_tokens")


def test_a_model_without_vision_refuses_images_by_name(plain_service: Live) -> None:
    answer = plain_service.http.post("/v1/chat/completions", json={"messages": _messages(_url())})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert "does not read images" in error["message"]
    assert "Qwen3-VL" in error["hint"]
    assert error["param"] == PLACE
