"""Templates of models that reason, and whether their prompts leave reasoning open."""

import pytest
from intaglio.engine.text.reasoning_marks import closing, marks_of, opening, switch_of

SWITCHED = "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
OPENED = "{{ '<think>\n' }}{# </think> #}"
HISTORY = "{{ content.split('</think>')[-1] }}"
CHANNELS = "{{ '<|start|>assistant<|channel|>analysis<|message|>' ~ m.thinking ~ '<|end|>' }}"
FINAL = "<|channel|>final<|message|>"


@pytest.mark.parametrize(
    ("template", "rendered", "switch", "text", "reasons"),
    [
        (SWITCHED, "assistant\n", None, "<think>\n", True),
        (SWITCHED, "assistant\n", True, "<think>\n", True),
        (SWITCHED, "assistant\n<think>\n\n</think>\n\n", False, "", False),
        (SWITCHED, "assistant\n", False, "", False),
        (OPENED, "assistant\n<think>\n", None, "", True),
        (OPENED, "assistant\n<think>\n", False, "", True),
        (HISTORY, "assistant\n", None, "", False),
        (HISTORY, "assistant\n", True, "<think>\n", True),
        (CHANNELS, "<|end|><|start|>assistant", None, "<|channel|>analysis<|message|>", True),
        (CHANNELS, "<|end|><|start|>assistant", True, "<|channel|>analysis<|message|>", True),
        (CHANNELS, "<|end|><|start|>assistant", False, FINAL, False),
    ],
)
def test_a_prompt_leaves_reasoning_open(
    template: str, rendered: str, switch: bool | None, text: str, reasons: bool
) -> None:
    marks = marks_of(template)
    assert marks is not None
    found = opening(marks, rendered, switch, template)
    assert (found.text, found.reasons) == (text, reasons)


@pytest.mark.parametrize(
    ("template", "rendered", "text"),
    [
        (SWITCHED, "assistant\n<think>\n\n</think>\n\n", ""),
        (OPENED, "assistant\n<think>\n", "\n</think>\n\n"),
        (HISTORY, "assistant\n", ""),
        (CHANNELS, "<|end|><|start|>assistant", FINAL),
    ],
)
def test_an_answer_can_begin_without_reasoning(template: str, rendered: str, text: str) -> None:
    marks = marks_of(template)
    assert marks is not None
    assert closing(marks, rendered) == text


def test_other_models_have_no_marks() -> None:
    assert marks_of("{{ messages }}") is None
    assert marks_of("[THINK]{{ m }}[/THINK]") is not None


def test_variables_switch_reasoning() -> None:
    assert switch_of({}) is None
    assert switch_of({"enable_thinking": False}) is False
    assert switch_of({"thinking": True}) is True
