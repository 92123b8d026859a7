"""The client test suites: the packages of each, the model it requests, and its commands.

Does: describe. Does not: install or run anything (`run`). Versions are pinned, so that results can be compared.
"""

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """One suite.

    `installs`: requirements, the first of which names the client. `model`: the name that the server gives its model.
    `sources`: the tests are in the client's source distribution. `paths`: what pytest runs, below the sources or here.
    `expected`: the refusals that are right. `files`: files that the tests take for granted. `rules`: gold answers, as
    pairs of a text in the prompt and the answer.
    """

    name: str
    installs: tuple[str, ...]
    model: str = "gold"
    sources: bool = False
    paths: tuple[str, ...] = ()
    expected: str = "expected_none.json"
    files: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()


_PYTEST = ("pytest==9.2.0", "pytest-asyncio==1.5.0")
_OPENAI = ("openai==3.54.0", *_PYTEST, "aiohttp==3.14.5", "httpx-aiohttp==0.2.0", "rich==14.3.4")
_CITY = {
    "name": "Bern",
    "population": 134591,
    "place": {"country": "Switzerland", "height_m": 540},
    "rivers": ["Aare"],
    "nickname": None,
}
_JOKE = {"setup": "Why do cats land on their feet?", "punchline": "They have nine tries."}
_SMALL_CITY = {"name": "Bern", "population": 134591}


def _compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _call(name: str, arguments: object) -> str:
    """A call of a tool in the format of Hermes, which models without a template use here."""
    call = f'{{"name": "{name}", "arguments": {json.dumps(arguments, ensure_ascii=False)}}}'
    return f"<tool_call>\n{call}\n</tool_call>"


_RESOURCES = "tests/api_resources"

SUITES: tuple[Suite, ...] = (
    Suite(
        name="openai-python",
        installs=_OPENAI,
        model="gpt-6-astra",
        sources=True,
        paths=tuple(
            f"{_RESOURCES}/{name}.py"
            for name in (
                *("chat/test_completions", "test_models", "test_files", "test_batches"),
                *("test_embeddings", "test_responses"),
            )
        ),
        expected="expected_openai.json",
        files=("file_id", "input_file_id"),
    ),
    Suite(
        name="openai-python completions",
        installs=_OPENAI,
        model="gpt-3.5-turbo-instruct",
        sources=True,
        paths=(f"{_RESOURCES}/test_completions.py",),
        expected="expected_openai.json",
    ),
    Suite(
        name="openai-python strict",
        installs=_OPENAI,
        paths=("openai_strict_suite.py",),
        rules=(
            ("city of Bern", _compact(_CITY)),
            ("city of Bern", _call("describe", _SMALL_CITY)),
        ),
    ),
    Suite(
        name="langchain-tests",
        installs=("langchain-tests==1.1.9", "langchain-openai==1.4.3", *_PYTEST),
        paths=("langchain_suite.py",),
        rules=(
            ("Return the result as a JSON", _compact(_JOKE)),
            ("joke about cats", _compact(_JOKE)),
            ("magic_function(3)", _call("magic_function", {"input": 3})),
            ("Pirate greeting", _call("greeting_generator", {"answer_style": "Pirate"})),
            ("weather in San Francisco", _call("get_weather", {"location": "San Francisco, CA"})),
            *(
                (name, _call("unicode_customer", {"customer_name": name, "description": "Hello"}))
                for name in ("你好啊集团", "こんにちは株式会社")
            ),
        ),
    ),
    Suite(
        name="typed clients",
        installs=(
            "instructor==1.17.0",
            "pydantic-ai-slim[openai]==2.31.1",
            "litellm==1.106.2",
            "openai==2.54.0",
            *_PYTEST,
        ),
        paths=("typed_suite.py",),
        rules=(
            ("city of Bern", _compact(_CITY)),
            ("city of Bern", _call("City", _CITY)),
            ("city of Bern", _call("PartialCity", _CITY)),
            ("city of Bern", _call("final_result", _CITY)),
        ),
    ),
    Suite(
        name="open responses",
        installs=("llm-comply==0.5.0", *_PYTEST),
        paths=("open_responses_suite.py",),
        expected="expected_open_responses.json",
        rules=(
            ("weather in San Francisco", _call("get_weather", {"location": "San Francisco, CA"})),
        ),
    ),
    Suite(
        name="ollama-python",
        installs=("ollama==0.6.3", *_PYTEST),
        paths=("ollama_suite.py",),
        rules=(
            ("Bern as JSON", _compact(_SMALL_CITY)),
            ("Add 2 and 3", _call("add", {"a": 2, "b": 3})),
            ("Say hello", "Hello!"),
        ),
    ),
)
