"""Templates of models that reason, and whether their prompts leave reasoning open."""

import pytest
from intaglio.service.generation.reasoning_marks import marks_of, opening, switch_of

SWITCHED = "{% if enable_thinking is false %}<think>\n\n</think>\n\n{% endif %}"
OPENED = "{{ '<think>\n' }}{# </think> #}"
HISTORY = "{{ content.split('</think>')[-1] }}"


@pytest.mark.parametrize(
    ("template", "rendered", "switch", "expect"),
    [
        (SWITCHED, "assistant\n", None, "<think>\n"),
        (SWITCHED, "assistant\n", True, "<think>\n"),
        (SWITCHED, "assistant\n<think>\n\n</think>\n\n", False, None),
        (SWITCHED, "assistant\n", False, None),
        (OPENED, "assistant\n<think>\n", None, ""),
        (OPENED, "assistant\n<think>\n", False, ""),
        (HISTORY, "assistant\n", None, None),
        (HISTORY, "assistant\n", True, "<think>\n"),
    ],
)
def test_a_prompt_leaves_reasoning_open(
    template: str, rendered: str, switch: bool | None, expect: str | None
) -> None:
    marks = marks_of(template)
    assert marks is not None
    assert opening(marks, rendered, switch, template) == expect


def test_other_models_have_no_marks() -> None:
    assert marks_of("{{ messages }}") is None
    assert marks_of("[THINK]{{ m }}[/THINK]") is not None


def test_variables_switch_reasoning() -> None:
    assert switch_of({}) is None
    assert switch_of({"enable_thinking": False}) is False
    assert switch_of({"thinking": True}) is True
