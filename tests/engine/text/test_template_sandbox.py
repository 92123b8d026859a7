"""Hostile templates are stopped, and published ones work."""

from collections.abc import Callable
from typing import Any

import jinja2
import pytest
from intaglio.engine.text.template_sandbox import LONGEST_TEXT, TemplateSandbox

MESSAGES: list[Any] = [{"role": "user", "content": "abc"}]


def render(source: str, deadline: float = float("inf")) -> str:
    tojson: Callable[..., str] = lambda value, indent=None: repr(value)  # noqa: E731
    return TemplateSandbox(deadline, tojson).from_string(source).render(messages=MESSAGES)


@pytest.mark.parametrize(
    "source",
    [
        "{{ 'x' * 10**9 }}",
        "{{ 'x'.ljust(10**9) }}",
        "{{ '9'.zfill(10**9) }}",
        "{{ 'a\\t'.expandtabs(10**9) }}",
        "{{ ('a' * 9999).join(['b'] * 9999) }}",
        "{{ ''.join(['b' * 9999] * 9999) }}",
        "{{ 'ab'.replace('', 'x' * 9999).replace('', 'y' * 9999) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%*d' % (1000000000, 1) }}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ '{a:>1000000000}'.format_map({'a': 1}) }}",
        "{{ 'x'|center(1000000000) }}",
        "{{ 'x'|indent(width=1000000000) }}",
        "{{ ['x']|batch(1000000000, 'y')|list }}",
        "{{ (['b' * 9999] * 9999)|join }}",
        "{{ messages|tojson(indent=100000000) }}",
        "{{ (range(99999)|list) * 9999 }}",
        "{{ 9999 * (range(99999)|list) }}",
        "{% set n = namespace(x='x') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
        "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    ],
)
def test_a_value_that_would_be_too_large_is_not_made(source: str) -> None:
    with pytest.raises(jinja2.TemplateRuntimeError, match=r"too (long|wide|large)"):
        render(source)


def test_what_published_templates_do_is_permitted() -> None:
    assert render("{{ 'a' ~ 1 ~ none ~ messages[0].content }}") == "a1Noneabc"
    assert render("{{ 'x'.ljust(5) ~ '|' }}") == "x    |"
    assert render("{{ '%s-%03d' % ('a', 7) }}{{ '%s'|format('b') }}") == "a-007b"
    assert render("{{ '{} {:>4}'.format('a', 'b') }}") == "a    b"
    assert render("{{ messages|map(attribute='role')|join(', ') }}") == "user"
    assert render("{{ messages|selectattr('role', 'equalto', 'user')|list|length }}") == "1"
    assert render("{{ (messages + messages)|length }}{{ [0] * 3 }}{{ '-' * 3 }}") == "2[0, 0, 0]---"
    assert (
        render("{% for a in range(9) %}{% if a > 2 %}{% break %}{% endif %}{{ a }}{% endfor %}")
        == "012"
    )
    assert len(render(f"{{{{ 'ab'.center({LONGEST_TEXT // 2}) }}}}")) == LONGEST_TEXT // 2


def test_time_is_bounded_between_operations() -> None:
    with pytest.raises(jinja2.TemplateRuntimeError, match="too long"):
        render("{% for a in range(9) %}{{ 'a' ~ a }}{% endfor %}", deadline=0.0)
