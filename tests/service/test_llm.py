"""The engine offline: the results and errors of the client, in one process."""

import dataclasses
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest
import torch
from intaglio.engine.api import ConfigError, Finish, ModelError, SamplingParams
from intaglio.grammar.api import Constraint, Kind, Verdict
from intaglio.schemas import catalogue
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.service.client import BadRequest, IntaglioError, NotFound, SchemaRefused, TooLong
from intaglio.service.client.models import Options
from intaglio.service.offline.llm import LLM, extract
from pydantic import BaseModel, Field

from tests.support.tiny_checkpoint import QWEN3, write_checkpoint


class Part(BaseModel):
    name: str = Field(max_length=6)
    count: int = Field(ge=0, le=9)
    unit: Literal["kg", "m", "piece"]


@dataclasses.dataclass
class Flag:
    raised: bool


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", QWEN3)


@pytest.fixture(scope="module")
def llm(folder: Path) -> Iterator[LLM]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with LLM(folder, num_blocks=256) as model:
        yield model
    torch.set_num_threads(threads)


def test_a_type_goes_in_and_an_instance_comes_out(llm: LLM) -> None:
    part = llm.extract(Part, "two kilos of nails")
    assert isinstance(part.data, Part)
    assert part.valid
    assert part.finish == "stop"
    assert part.raw["data"] == part.data.model_dump()
    assert part.usage.output_tokens > 0
    assert part.timings.total_ms > 0
    flag = llm.extract(Flag, "raised")
    assert isinstance(flag.data, Flag)


def test_a_schema_goes_in_and_json_comes_out(llm: LLM) -> None:
    schema = {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 4}
    result = llm.extract(schema, "a b", temperature=1.0, seed=3)
    jsonschema.validate(result.data, schema)


def test_many_texts_run_together_and_keep_their_order(llm: LLM) -> None:
    texts = [f"text number {n}" for n in range(12)]
    alone = [llm.extract(Part, text).data for text in texts]
    together = llm.extract_many(Part, texts)
    assert [result.data for result in together] == alone
    assert llm.extract_many(Part, []) == []


def test_errors_are_those_of_the_client(llm: LLM) -> None:
    with pytest.raises(SchemaRefused) as refused:
        llm.extract({"pattern": r"(a)\1"}, "x")
    assert refused.value.details[0].pointer == "/schema/pattern"
    with pytest.raises(NotFound):
        llm.extract("no-such-schema", "x")
    with pytest.raises(TooLong):
        llm.extract(Part, "x" * 3000)
    with pytest.raises(BadRequest):
        llm.extract(Part, "x", temperature=-1.0)
    with pytest.raises(TypeError, match="max_token"):
        llm.extract(Part, "x", max_token=3)  # type: ignore[call-overload]


def test_one_bad_text_among_many(llm: LLM) -> None:
    texts = ["one", "x" * 3000, "three"]
    with pytest.raises(TooLong):
        llm.extract_many(Part, texts)
    results = llm.extract_many(Part, texts, return_errors=True)
    assert isinstance(results[1], TooLong)
    good = [r for r in results if not isinstance(r, IntaglioError)]
    assert [isinstance(result.data, Part) for result in good] == [True, True]
    assert llm.check().clean


def test_generation_continues_prompts_as_they_are(llm: LLM) -> None:
    greedy = SamplingParams(max_tokens=12, temperature=0.0, logprobs=2)
    one, two = llm.generate(["ab", "cd"], greedy)
    (alone,) = llm.generate("ab", greedy)
    assert one == dataclasses.replace(alone, usage=one.usage, logprobs=one.logprobs)
    # What a batch of another size rounds otherwise.
    rounded = [pytest.approx(found.logprob, abs=1e-4) for found in alone.logprobs]
    assert [found.logprob for found in one.logprobs] == rounded
    assert one.finish in (Finish.STOP, Finish.LENGTH)
    assert len(one.logprobs) == len(one.tokens) == one.usage.output_tokens
    assert two.usage.prompt_tokens == 2


def test_generation_under_a_constraint(llm: LLM) -> None:
    (found,) = llm.generate("x", constraint=Constraint(Kind.REGEX, "(yes|no){3}"))
    assert found.finish is Finish.STOP
    assert set(found.text.replace("yes", "").replace("no", "")) == set()


def test_a_stop_string_ends_the_text_and_frees_the_blocks(llm: LLM) -> None:
    pattern = Constraint(Kind.REGEX, "a{3}<end>b{400}")
    sampling = SamplingParams(max_tokens=600, stop=("<end>",))
    (found,) = llm.generate("x", sampling, constraint=pattern)
    assert (found.text, found.finish) == ("aaa", Finish.STOP)
    assert llm.check().clean


def test_the_options_are_those_of_the_wire() -> None:
    assert set(Options.__annotations__) == set(ExtractOptions.model_fields)


def test_a_bad_model_or_setting_says_so_at_once(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no folder"):
        LLM(tmp_path / "absent")
    with pytest.raises(ConfigError, match="num_block"):
        LLM(folder, num_block=3)


def test_the_model_in_the_package_answers_at_the_first_call() -> None:
    sample = catalogue.get("contact").sample
    result = extract("contact", sample)
    jsonschema.validate(result.data, catalogue.get("contact").schema)
    assert result.model == "embedded"
    assert extract(Flag, "The flag is raised.").data in (Flag(raised=True), Flag(raised=False))


def test_a_text_with_line_ends_of_windows_is_read_like_any_other() -> None:
    text = "Name: Petra Kamp\r\nCity: Bremen\r\nOrder number: A-204\r\n"
    names = ("name", "city", "order_number")
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": [*names],
    }
    result = extract(schema, text, grounding="locate")
    assert result.data == {"name": "Petra Kamp", "city": "Bremen", "order_number": "A-204"}
    span = result.fields["/city"].span
    assert span is not None
    assert text[span.start : span.end] == "Bremen"


def test_a_closed_model_takes_nothing(folder: Path) -> None:
    model = LLM(folder, num_blocks=80)
    model.close()
    model.close()
    with pytest.raises(IntaglioError):
        model.extract(Part, "x")


def test_leaving_a_batch_early_aborts_the_rest(llm: LLM) -> None:
    def failing() -> Any:
        return llm.extract_many(Part, ["fine"] * 5 + ["x" * 3000] + ["fine"] * 5)

    with pytest.raises(TooLong):
        failing()
    assert llm.check().clean


class Examining(Future[Verdict]):
    """A verdict that comes when the test says so."""

    def result(self, timeout: float | None = None) -> Verdict:
        assert self.done(), "the engine waits for a schema"
        return super().result(timeout)


class SlowToExamine(LLM):
    """Has the schemas of strings examined by hand."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, num_blocks=256)
        self.asked: dict[str, Examining] = {}
        self._gate, self._schema_gate = self._schema_gate, self  # type: ignore[assignment]

    def submit(self, constraint: Constraint) -> Future[Verdict]:
        if "string" not in constraint.source:
            return self._gate.submit(constraint)
        return self.asked.setdefault(constraint.key, Examining())

    def close(self) -> None:
        self._schema_gate = self._gate
        super().close()


def test_texts_in_the_engine_go_on_while_a_new_schema_is_examined(folder: Path) -> None:
    items = [(1, {"type": "integer"}, "41 nails"), (2, {"type": "string", "maxLength": 4}, "a b")]
    with SlowToExamine(folder) as llm:
        answers = llm.extract_stream(iter(items))
        key, first = next(answers)
        assert key == 1
        assert not isinstance(first, IntaglioError)
        (examining,) = llm.asked.values()
        examining.set_result(Verdict())
        key, second = next(answers)
        assert key == 2
        assert not isinstance(second, IntaglioError)
        assert isinstance(second.data, str)
        assert list(answers) == []
