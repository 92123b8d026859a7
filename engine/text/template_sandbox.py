"""The environment in which chat templates run. They come with model weights, and may be hostile.

Does: keep templates from Python's attributes, from state and from files; bound the processor time of a rendering, and
the size of every value before it is made. Does not: render (`chat`) or look into the caller's texts.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import cache, wraps
from typing import Any, Final

import jinja2
import jinja2.compiler
import jinja2.ext
import jinja2.filters
import jinja2.nodes
import jinja2.sandbox

LONGEST_TEXT: Final = 4 * 1024 * 1024
"""Characters of a value, and of a whole prompt, in which the caller's texts are represented by short names."""

_LONGEST_LIST: Final = 256 * 1024
_LARGEST_FACTOR: Final = 10_000
_WIDE: Final = re.compile(r"\d{5,}|\*")
"""A width of five digits in the text of a format, or one that is an argument."""


class _LoopControls(jinja2.ext.Extension):
    """`break` and `continue`, which published templates use."""

    tags = {"break", "continue"}  # noqa: RUF012 - the base class says set

    def parse(self, parser: Any) -> jinja2.nodes.Node:
        token = next(parser.stream)
        kind = jinja2.nodes.Break if token.value == "break" else jinja2.nodes.Continue
        return kind(lineno=token.lineno)


class _BoundedCode(jinja2.compiler.CodeGenerator):
    """Compiles `~` to a call of the sandbox. Jinja would join the texts without asking it."""

    def visit_Concat(self, node: jinja2.nodes.Concat, frame: Any) -> None:  # noqa: N802 - the name in the base class
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")


class TemplateSandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """The environment of one rendering, which may use the processor until `deadline` (of `time.thread_time`).

    `tojson` is the filter of that name.
    """

    intercepted_binops = frozenset(["+", "-", "*", "/", "//", "**", "%"])
    code_generator_class = _BoundedCode

    def __init__(self, deadline: float, tojson: Callable[..., str]) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_LoopControls],
            optimized=False,  # constants folded at compilation would not be replaced
        )
        self.deadline = deadline
        self.filters = {**_filters(), "tojson": _bounded("tojson", tojson)}
        self.globals["raise_exception"] = _raise_exception
        del self.globals["lipsum"]

    def tick(self) -> None:
        """Stop a rendering that takes too long. Called at every operation on which a template can spend time."""
        if time.thread_time() > self.deadline:
            raise jinja2.TemplateRuntimeError("it takes too long")

    def getattr(self, obj: Any, attribute: str) -> Any:
        self.tick()
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        self.tick()
        return super().getitem(obj, argument)

    def call(self, context: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
        self.tick()
        method = getattr(function, "__wrapped__", function)
        subject = getattr(method, "__self__", None)
        if isinstance(subject, str):
            if method.__name__ in ("format", "format_map"):
                _require_narrow(subject)
            _require_small(subject, (*args, *kwargs.values()))
        return super().call(context, function, *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        self.tick()
        if operator == "**" and isinstance(right, int) and right > 64:
            raise jinja2.TemplateRuntimeError("a power is too large")
        if operator in ("*", "**"):
            if any(isinstance(one, int) and abs(one) > _LARGEST_FACTOR for one in (left, right)):
                raise jinja2.TemplateRuntimeError("a product is too large")
            for list_of, times in ((left, right), (right, left)):
                if isinstance(list_of, list | tuple) and isinstance(times, int):
                    _require_length(len(list_of) * times, _LONGEST_LIST)
            _require_small(left, (right,))
        elif operator == "%" and isinstance(left, str):
            _require_narrow(left)
            _require_small(left, right if isinstance(right, tuple) else (right,))
        elif operator == "+" and isinstance(left, Sized) and isinstance(right, Sized):
            most = LONGEST_TEXT if isinstance(left, str) else _LONGEST_LIST
            _require_length(len(left) + len(right), most)
        return super().call_binop(context, operator, left, right)

    def joined(self, parts: Iterable[Any]) -> str:
        """The texts of some values as one: the operator `~`."""
        self.tick()
        texts = [str(part) for part in parts]
        _require_length(sum(map(len, texts)))
        return "".join(texts)


@cache
def _filters() -> Mapping[str, Callable[..., Any]]:
    """Jinja's filters, bounded."""
    return {name: _bounded(name, each) for name, each in jinja2.filters.FILTERS.items()}


def _bounded(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that refuses what would be too large."""
    subject_at = 1 if hasattr(function, "jinja_pass_arg") else 0

    @wraps(function)
    def bounded(*args: Any, **kwargs: Any) -> Any:
        subject, options = args[subject_at], (*args[subject_at + 1 :], *kwargs.values())
        if name == "format":
            _require_narrow(str(subject))
        _require_small(subject, options)
        return function(*args, **kwargs)

    return bounded


def _require_length(length: int, most: int = LONGEST_TEXT) -> None:
    if length > most:
        raise jinja2.TemplateRuntimeError("a value is too long")


def _require_narrow(text: str) -> None:
    """Refuse the text of a format that asks for a wide field."""
    if _WIDE.search(text) is not None:
        raise jinja2.TemplateRuntimeError("a field is too wide")


def _require_small(subject: Any, others: Iterable[Any]) -> None:
    """Refuse an operation if its result may be too long: each part of one value with all of another one, or all parts
    of a list as one text."""
    size = _size(subject)
    for other in others:
        _require_length(size * _size(other))
        if isinstance(other, list | tuple):
            _require_length(_characters(other))
    if isinstance(subject, list | tuple):
        _require_length(_characters(subject))


def _size(value: Any) -> int:
    """The number of times that an operation may repeat another value for this one."""
    if isinstance(value, bool):
        return 1
    if isinstance(value, int):
        return max(1, abs(value))
    if isinstance(value, str | list | tuple | Mapping):
        return max(1, len(value))
    return 1


def _characters(values: Sequence[Any]) -> int:
    return sum(len(value) for value in values if isinstance(value, str))


def _raise_exception(message: str) -> None:
    raise jinja2.TemplateRuntimeError(message)
