"""A10: templates that try to leave their sandbox or to use up the machine are refused, or stopped early."""

import resource
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from intaglio.engine.errors import EngineError
from intaglio.engine.text.chat import ChatTemplate
from intaglio.engine.text.tokenizer import Tokenizer

from tests.reliability.figures import Figure
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SECONDS = 0.2
MEMORY_MIB = 16
STARTS = (
    *("messages", "messages[0]", "messages[0].content", "''", "()", "{}", "1", "none"),
    *("raise_exception", "range", "namespace", "cycler", "joiner", "lipsum", "dict", "self"),
)
STEPS = (
    ".__class__",
    ".__class__.__mro__[1].__subclasses__()",
    ".__init__.__globals__",
    ".__init__.__globals__['__builtins__']",
    "['__class__']",
    "|attr('__class__')",
    "|attr('__class__')|attr('__base__')",
    ".format.__globals__",
    "|map('attr', '__class__')|list",
)
FORMATS = (
    "{{ '{0.__class__}'.format(messages) }}",
    "{{ '{0[0].__class__.__init__}'.format(messages) }}",
    "{{ '%s'|format(messages.__class__) }}",
    "{{ self._TemplateReference__context }}",
    "{{ self.__init__.__globals__.os }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__['os'] }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ raise_exception.__globals__ }}",
    "{{ raise_exception.__code__.co_consts }}",
    "{{ range.__self__ }}",
    "{{ messages.append({}) }}",
    "{{ messages.clear() }}",
    "{{ messages[0].update(role='system') }}",
    "{{ messages[0].pop('role') }}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os }}",
    "{% extends 'x' %}",
    "{% from '/etc/passwd' import x %}",
)
BOMBS = (
    "{{ 'x' * 10**9 }}",
    "{{ 10 ** 10 ** 10 }}",
    "{{ 9 ** 9 ** 9 ** 9 }}",
    "{{ range(10**9)|list }}",
    "{{ range(99999999)|sum }}",
    "{{ (range(99999)|list) * 9999 }}",
    "{{ ('x' * 9999) * 9999 }}",
    "{{ 'x'.ljust(10**9) }}",
    "{{ 'x'.center(10**10) }}",
    "{{ '%1000000000d' % 1 }}",
    "{{ '{:>1000000000}'.format(1) }}",
    "{{ 'x'|center(1000000000) }}",
    "{{ 'x'|indent(1000000000) }}",
    "{{ lipsum(n=1000000) }}",
    "{{ ['x']|batch(1000000000, 'y')|list }}",
    "{{ 'ab'.replace('', 'x' * 9999).replace('', 'y' * 9999) }}",
    "{{ ('a' * 9999).join(['b'] * 9999) }}",
    "{{ '9'.zfill(10**9) }}",
    "{{ ('9' * 9999)|int }}",
    "{{ 'a\\t'.expandtabs(10**9) }}",
    "{{ 'x'|wordwrap(1)|urlize }}",
    "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
    "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
    "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "{% set ns = namespace(x=9) %}{% for i in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "{% for a in messages recursive %}{{ loop([a, a]) }}{% endfor %}",
    "{{ messages|tojson(indent=100000000) }}",
)


def sources() -> Iterator[str]:
    """All templates: ways out of the sandbox, and bombs."""
    for start in STARTS:
        for step in STEPS:
            yield "{{ (" + start + step + ") }}"
    yield from FORMATS
    yield from BOMBS


def outcome(tokenizer: Tokenizer, source: str) -> tuple[str, float]:
    """How a template ended: `refused`, or the text that it gave; and the processor time that it took."""
    began = time.thread_time()
    try:
        template = ChatTemplate(tokenizer, source, seconds=SECONDS)
        pieces = template.render([{"role": "user", "content": "a secret"}])
        end = "".join(piece.text for piece in pieces)
    except EngineError:
        end = "refused"
    return end, time.thread_time() - began


def tells(text: str) -> bool:
    """Whether a template's text shows something of Python, or the caller's text to the template."""
    signs = ("<class", "<function", "<built-in", "<module", "object at 0x", "root:")
    return any(sign in text for sign in signs)


def measure(folder: Path) -> list[Figure]:
    """All templates, one after the other."""
    tokenizer = Tokenizer.load(write_checkpoint(folder / "model", LLAMA))
    ends, slowest, leaks = Counter[str](), ("", 0.0), []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for source in sources():
        end, seconds = outcome(tokenizer, source)
        ends["refused" if end == "refused" else "harmless"] += 1
        if end != "refused" and tells(end):
            leaks.append(source)
        slowest = max(slowest, (source, seconds), key=lambda one: one[1])
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [
        Figure(
            id="A10",
            what="templates that would leave the sandbox, and bombs",
            count=ends.total(),
            bound=f"refused, harmless or stopped after {SECONDS:g} s; memory +{MEMORY_MIB} MiB",
            measured=f"{dict(ends)}, {len(leaks)} that tell of the inside {leaks[:3]}, "
            f"at most {slowest[1]:.2f} s ({slowest[0]}), memory +{more:.0f} MiB",
            met=not leaks and slowest[1] < 2 * SECONDS and more <= MEMORY_MIB,
        )
    ]
