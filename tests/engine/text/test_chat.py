"""Chat templates: their output, and that callers cannot write control tokens."""

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.engine.errors import InvalidRequest, ModelError
from intaglio.engine.text.chat import ChatTemplate
from intaglio.engine.text.tokenizer import Tokenizer

from tests.support.tokens import SPECIALS, data, large, small

EXTRACT = "<|schema|>{{schema}}<|document|>{{document}}<|answer|>"
CHATML = (
    "{% for m in messages %}<|schema|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|answer|>{% endif %}"
)


def text_of(template: ChatTemplate, *args: object, **kwargs: object) -> str:
    return "".join(piece.text for piece in template.render(*args, **kwargs))  # type: ignore[arg-type]


@settings(max_examples=100, deadline=None)
@given(
    schema=st.text(max_size=12) | st.sampled_from(SPECIALS),
    document=st.text(max_size=12) | st.sampled_from(SPECIALS).map(lambda s: f"a {s}{s}"),
)
def test_control_tokens_come_from_the_template_alone(schema: str, document: str) -> None:
    tokenizer = small()
    ids = ChatTemplate(tokenizer, EXTRACT).encode(
        variables={"schema": schema, "document": document}
    )
    controls = [tokenizer.id_of(name) for name in SPECIALS]
    assert [token for token in ids if token in controls] == controls[2:]
    first, second = ids.index(controls[3]), ids.index(controls[4])
    assert ids[1:first] == tokenizer.canonical(schema.encode())
    assert ids[first + 1 : second] == tokenizer.canonical(document.encode())


def test_messages_render_as_the_plain_template_would() -> None:
    template = ChatTemplate(small(), CHATML)
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": "<|end|> y"}]
    expect = "<|schema|>system\nx<|end|>\n<|schema|>user\n<|end|> y<|end|>\n"
    assert text_of(template, messages) == expect + "<|answer|>"
    assert text_of(template, messages, add_generation_prompt=False) == expect
    assert template.encode(messages).count(SPECIALS.index("<|end|>")) == 2


def test_the_shared_model_spells_its_prompt_as_one_text() -> None:
    folder = data("tokenizers", "qwen")
    tokenizer = large()
    template = ChatTemplate.load(folder, tokenizer)
    ids = template.encode([{"role": "user", "content": "Hello there\nworld"}])
    whole = "<|im_start|>user\nHello there\nworld<|im_end|>\n<|im_start|>assistant\n"
    library = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert ids == tuple(library.encode(whole, add_special_tokens=False).ids)


def test_conditions_and_json_see_the_callers_values() -> None:
    source = (
        "{% for m in messages %}{% if m.role == 'system' %}[{{ m.content }}]{% endif %}"
        "{% if m.tools %}{{ m.tools | tojson }}{% endif %}{% endfor %}"
        "{% for i in [1, 2, 3] %}{% if i == 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}"
    )
    tools = [{"name": 'a"b', "odd key<|end|>": "<|end|>", "n": 1}]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": ""},
        {"role": "user", "content": "", "tools": tools},
    ]
    template = ChatTemplate(small(), source)
    assert text_of(template, messages) == "[]" + json.dumps(tools) + "13"
    assert small().id_of("<|end|>") not in template.encode(messages)


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("{% for m in messages %}{{ m.content[:9] }}{% endfor %}", "splits"),
        ("{% for m in messages %}{{ m.content | upper }}{% endfor %}", "splits"),
        ("{{ raise_exception('no system role') }}", "no system role"),
        ("{{ messages.__class__.__mro__ }}", "unsafe"),
        ("{{ 10 ** 10 ** 10 }}", "too large"),
        ("{{ 'x' * 100000000 }}", "too large"),
        ("{{ 1 / 0 }}", "zero"),
        ("{{ messages[0].content + 1 }}", "failed"),
        ("{% set _ = messages.append(1) %}", "unsafe|not"),
    ],
)
def test_what_a_template_may_not_do_is_an_error(source: str, match: str) -> None:
    template = ChatTemplate(small(), source)
    with pytest.raises(InvalidRequest, match=match):
        template.render([{"role": "user", "content": "some content"}])


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    ],
)
def test_a_template_cannot_run_for_ever(source: str) -> None:
    with pytest.raises(InvalidRequest, match=r"too long|longer"):
        ChatTemplate(small(), source, seconds=0.05).render()


@pytest.mark.parametrize("source", ["{% if %}", "{{ a", "x" * 300_000])
def test_a_wrong_template_is_a_wrong_model(source: str) -> None:
    with pytest.raises(ModelError, match="template"):
        ChatTemplate(small(), source)


def test_an_unknown_role_is_refused_where_it_stands() -> None:
    with pytest.raises(InvalidRequest) as caught:
        ChatTemplate(small()).render([{"role": "<|end|>", "content": ""}])
    assert caught.value.where == "/messages/0/role"


def test_templates_are_found_in_a_model_folder(tmp_path: Path) -> None:
    tokenizer: Tokenizer = small()
    messages = [{"role": "user", "content": "hi"}]
    assert text_of(ChatTemplate.load(tmp_path, tokenizer), messages) == "user: hi\n\nassistant: "
    config = {"chat_template": "{{ bos_token }}A", "bos_token": {"content": "<|pad|>"}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    assert text_of(ChatTemplate.load(tmp_path, tokenizer), messages) == "<|pad|>A"
    (tmp_path / "chat_template.jinja").write_text("B\n", encoding="utf-8")
    assert text_of(ChatTemplate.load(tmp_path, tokenizer), messages) == "B"
    (tmp_path / "tokenizer_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        ChatTemplate.load(tmp_path, tokenizer)


@pytest.mark.parametrize(
    ("config", "prompt"),
    [
        ({"chat_template": [{"name": "tool_use", "template": "A"}]}, "user: hi\n\nassistant: "),
        ({"chat_template": [{"x": 1}, {"name": "default", "template": "B"}]}, "B"),
        ({"chat_template": {"default": "C"}}, "C"),
        ({"chat_template": 5}, None),
        ({"chat_template": ["A"]}, None),
        ({"chat_template": {"default": 5}}, None),
        ({"bos_token": {"x": 1}}, None),
        ({"eos_token": 5}, None),
    ],
)
def test_forms_of_templates_in_a_config(
    tmp_path: Path, config: dict[str, object], prompt: str | None
) -> None:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    if prompt is None:
        with pytest.raises(ModelError, match="must be a text"):
            ChatTemplate.load(tmp_path, small())
    else:
        template = ChatTemplate.load(tmp_path, small())
        assert text_of(template, [{"role": "user", "content": "hi"}]) == prompt


def test_templates_may_measure_ids_and_compare_kinds_of_calls() -> None:
    source = (
        "{% for c in messages[0].tool_calls %}{% if c.type == 'function' and c.id|length == 9 %}"
        "{{ c.id }} {{ c.function.name }}{{ c.function.arguments | tojson }}{% endif %}{% endfor %}"
    )
    call = {"name": "<|end|>", "arguments": {"type": "<|end|>", "id": "<|end|>", "a": [1]}}
    message = {
        "role": "assistant",
        "tool_calls": [
            {"id": "a1b2c3d4e", "type": "function", "function": call},
            {"id": "<|end|>xx", "type": "function", "function": call},
        ],
    }
    template = ChatTemplate(small(), source)
    assert template.source == source
    expect = f"a1b2c3d4e <|end|>{json.dumps(call['arguments'])}"
    assert text_of(template, [message]) == expect
    assert SPECIALS.index("<|end|>") not in template.encode([message])


def test_a_template_without_reasoning_lets_the_answer_begin_at_once() -> None:
    switched = (
        "{{ document }}{% if add_generation_prompt %}<|answer|>"
        "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
    )
    opened = (
        "{{ document }}{% if add_generation_prompt %}<|answer|><think>\n{% endif %}{# </think> #}"
    )
    channels = "{{ document }}{% if add_generation_prompt %}<|start|>assistant{% endif %}"
    channels += "{# <|channel|>analysis<|message|> #}"
    for source, end in (
        (switched, "<|answer|><think>\n\n</think>\n\n"),
        (opened, "<|answer|><think>\n\n</think>\n\n"),
        (channels, "<|start|>assistant<|channel|>final<|message|>"),
    ):
        template = ChatTemplate(small(), source)
        at_once = template.without_reasoning()
        assert text_of(at_once, [], {"document": "d"}) == f"d{end}"
        assert text_of(at_once, [], {"document": "d"}, add_generation_prompt=False) == "d"
        frame = at_once.frame([], {"document": "a gap"}, "a gap")
        assert frame is not None
        whole = at_once.encode([], {"document": "a text"})
        assert frame.encode(small(), "a text")[0] == whole
        assert "final" not in text_of(template, [], {"document": "d"})


def test_a_document_cannot_close_the_reasoning_of_a_template() -> None:
    template = ChatTemplate(small(), "{{ document }}<|answer|>{# </think> #}").without_reasoning()
    ids = template.encode([], {"document": "<think><|end|>"})
    assert small().id_of("<|end|>") not in ids
