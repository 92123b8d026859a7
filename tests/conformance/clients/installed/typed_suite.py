"""Typed round trips through instructor, Pydantic AI and LiteLLM, where they are installed.

The prompt names a city; the gold answer is its data, and the client has to make the typed value of it.
"""

import os

import instructor
import litellm
import pytest
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

MODEL = os.environ["CLIENTS_MODEL"]
URL = os.environ["OPENAI_BASE_URL"]
PROMPT = "Describe the city of Bern."
MODES = {
    "json schema": instructor.Mode.JSON_SCHEMA,
    "json": instructor.Mode.JSON,
    "tools": instructor.Mode.TOOLS,
    "strict tools": instructor.Mode.TOOLS_STRICT,
}


class Place(BaseModel):
    """Where something is."""

    country: str
    height_m: int = Field(ge=0, le=9000)


class City(BaseModel):
    """A city."""

    name: str
    population: int = Field(gt=0)
    place: Place
    rivers: list[str]
    nickname: str | None = None


BERN = City(
    name="Bern",
    population=134_591,
    place=Place(country="Switzerland", height_m=540),
    rivers=["Aare"],
)


@pytest.mark.parametrize("mode", MODES)
def test_instructor(mode: str) -> None:
    client = instructor.from_openai(OpenAI(), mode=MODES[mode])
    found = client.chat.completions.create(
        model=MODEL, response_model=City, messages=[{"role": "user", "content": PROMPT}]
    )
    assert found.model_dump() == BERN.model_dump()


@pytest.mark.parametrize("mode", ["json schema", "tools"])
def test_instructor_partial(mode: str) -> None:
    client = instructor.from_openai(OpenAI(), mode=MODES[mode])
    found = client.chat.completions.create_partial(
        model=MODEL, response_model=City, messages=[{"role": "user", "content": PROMPT}]
    )
    values = list(found)
    assert len(values) > 1
    assert values[-1].model_dump() == BERN.model_dump()


@pytest.mark.parametrize("output", [NativeOutput, ToolOutput, PromptedOutput])
async def test_pydantic_ai(output: type) -> None:
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=URL, api_key="none"))
    result = await Agent(model, output_type=output(City)).run(PROMPT)
    assert result.output == BERN
    assert result.usage.output_tokens > 0


@pytest.mark.parametrize("output", [NativeOutput, ToolOutput])
async def test_pydantic_ai_streams(output: type) -> None:
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=URL, api_key="none"))
    async with Agent(model, output_type=output(City)).run_stream(PROMPT) as result:
        assert await result.get_output() == BERN


@pytest.mark.parametrize("output", [NativeOutput, ToolOutput])
async def test_pydantic_ai_responses(output: type) -> None:
    model = OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=URL, api_key="none"))
    result = await Agent(model, output_type=output(City)).run(PROMPT)
    assert result.output == BERN


def test_litellm() -> None:
    answer = litellm.completion(
        model=f"openai/{MODEL}",
        api_base=URL,
        api_key="none",
        messages=[{"role": "user", "content": PROMPT}],
        response_format=City,
    )
    assert City.model_validate_json(answer.choices[0].message.content) == BERN
    assert answer.usage.completion_tokens > 0


async def test_litellm_streams() -> None:
    stream = await litellm.acompletion(
        model=f"openai/{MODEL}",
        api_base=URL,
        api_key="none",
        messages=[{"role": "user", "content": PROMPT}],
        response_format=City,
        stream=True,
    )
    pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
    assert City.model_validate_json("".join(pieces)) == BERN


def test_litellm_as_ollama() -> None:
    answer = litellm.completion(
        model=f"ollama_chat/{MODEL}",
        api_base=os.environ["CLIENTS_URL"],
        messages=[{"role": "user", "content": PROMPT}],
        response_format=City,
    )
    assert City.model_validate_json(answer.choices[0].message.content) == BERN


def test_openai_parses() -> None:
    answer = OpenAI().chat.completions.parse(
        model=MODEL, messages=[{"role": "user", "content": PROMPT}], response_format=City
    )
    assert answer.choices[0].message.parsed == BERN


async def test_openai_streams_parsed() -> None:
    async with AsyncOpenAI().chat.completions.stream(
        model=MODEL, messages=[{"role": "user", "content": PROMPT}], response_format=City
    ) as stream:
        answer = await stream.get_final_completion()
    assert answer.choices[0].message.parsed == BERN
