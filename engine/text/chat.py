"""A model's chat template: messages and variables to a prompt in token ids.

Does: render the template of a model folder in a sandbox, and keep the caller's text separate from the template's, so
that only the template can spell control tokens. Does not: write messages.
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import jinja2
import jinja2.meta
import jinja2.nodes

from ..errors import InvalidRequest, ModelError
from .prompt_frame import PromptFrame
from .reasoning_marks import SWITCHES, closing, marks_of
from .template_sandbox import LONGEST_TEXT, TemplateSandbox
from .tokenizer import Piece, Tokenizer

PLAIN = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
_LONGEST_TEMPLATE = 256 * 1024  # characters
_VARYING = frozenset({"strftime_now", "lipsum", "random"})  # globals and filters
_FAILURES = (
    *(jinja2.TemplateError, ArithmeticError, LookupError, TypeError, ValueError),
    *(AttributeError, RecursionError),
)
"""What a template may raise that fails."""

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
# A secret, and the number of a value.
_SUBSTITUTE = re.compile("\ue000([0-9a-f]{24}):([0-9]+)\ue001")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_IDS = frozenset({"id", "tool_call_id"})
_KINDS = ("function", "text", "image")
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")


class ChatTemplate:
    """The compiled template of one model.

    `source` is the template's text. `special` are names such as `bos_token` that templates may print. `seconds` bounds
    the processor time of a rendering.

    Raises:
        ModelError: the template is too long, or invalid.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        source: str = PLAIN,
        special: Mapping[str, str] | None = None,
        *,
        seconds: float = 2.0,
    ) -> None:
        if len(source) > _LONGEST_TEMPLATE:
            raise ModelError(f"the chat template is longer than {_LONGEST_TEMPLATE} characters")
        self.source = source
        self._tokenizer = tokenizer
        self._special = dict(special or {})
        self._seconds = seconds
        self._reasons = True
        try:
            sandbox = _sandbox(0.0, _Seal())
            self._code = sandbox.compile(source)
            tree = sandbox.parse(source)
            names = jinja2.meta.find_undeclared_variables(tree)
            used = {found.name for found in tree.find_all(jinja2.nodes.Name)}
            used |= {found.name for found in tree.find_all(jinja2.nodes.Filter)}
        except jinja2.TemplateError as error:
            raise ModelError(
                f"the chat template is invalid: {error}", where="chat_template"
            ) from error
        self.reads_messages: Final = "messages" in names
        """Whether the template prints messages, and not only variables."""
        self._is_repeatable = used.isdisjoint(_VARYING)

    @classmethod
    def load(cls, folder: Path, tokenizer: Tokenizer) -> "ChatTemplate":
        """The template of a model folder: `chat_template.jinja`, else the key in `tokenizer_config.json`, else PLAIN.

        Raises:
            ModelError: a file cannot be read, or the template is invalid.
        """
        config: dict[str, Any] = {}
        path = folder / "tokenizer_config.json"
        file = folder / "chat_template.jinja"
        try:
            if path.is_file():
                config = json.loads(path.read_text(encoding="utf-8"))
            source = (
                file.read_text(encoding="utf-8") if file.is_file() else config.get("chat_template")
            )
        except (OSError, ValueError) as error:
            raise ModelError(
                f"the chat template cannot be read: {error}", where=str(folder)
            ) from error
        special = {
            name: _text(token.get("content") if isinstance(token, dict) else token, name)
            for name in ("bos_token", "eos_token", "pad_token", "unk_token")
            if (token := config.get(name)) is not None
        }
        return cls(tokenizer, _default_of(source), special)

    def without_reasoning(self) -> "ChatTemplate":
        """This template for prompts that the answer follows at once, also where the model would reason first."""
        template = copy(self)
        template._reasons = False
        return template

    def encode(
        self,
        messages: Sequence[Mapping[str, Any]] = (),
        variables: Mapping[str, Any] | None = None,
        *,
        add_generation_prompt: bool = True,
    ) -> tuple[int, ...]:
        """Token ids of the prompt. Nothing inside `messages` or `variables` can become a control token.

        Raises:
            InvalidRequest: a role is unknown, the template refuses the messages, or rendering exceeds a limit.
        """
        return self._tokenizer.encode_pieces(
            self.render(messages, variables, add_generation_prompt=add_generation_prompt)
        )

    def frame(
        self, messages: Sequence[Mapping[str, Any]], variables: Mapping[str, Any], text: str
    ) -> PromptFrame | None:
        """The frame of the prompts that differ from this one only in `text`, which occurs in one place.

        None if there is no such frame: the template prints the text elsewhere, changed or not at all, or its output
        differs from one rendering to the next. Raises as `encode`.
        """
        if not self._is_repeatable:
            return None
        pieces = self.render(messages, variables)
        places = [index for index, piece in enumerate(pieces) if text in piece.text]
        if len(places) != 1 or pieces[places[0]].trusted or pieces[places[0]].text != text:
            return None
        return self._tokenizer.frame(pieces[: places[0]], pieces[places[0] + 1 :])

    def render(
        self,
        messages: Sequence[Mapping[str, Any]] = (),
        variables: Mapping[str, Any] | None = None,
        *,
        add_generation_prompt: bool = True,
    ) -> list[Piece]:
        """The prompt as text: trusted pieces of the template, untrusted pieces of the caller. Raises as `encode`."""
        for number, message in enumerate(messages):
            if message.get("role") not in _ROLES:
                raise InvalidRequest(
                    f"unknown role {message.get('role')!r}",
                    where=f"/messages/{number}/role",
                    hint="one of " + ", ".join(sorted(_ROLES)),
                )
        seal = _Seal()
        sandbox = _sandbox(time.thread_time() + self._seconds, seal)
        values: dict[str, Any] = {} if self._reasons else dict.fromkeys(SWITCHES, False)
        values.update((name, seal.close(value)) for name, value in (variables or {}).items())
        values["messages"] = [
            {
                str(k): v if k == "role" or _is_plain(k, v) else seal.close(v)
                for k, v in message.items()
            }
            for message in messages
        ]
        values["add_generation_prompt"] = add_generation_prompt
        try:
            parts: list[str] = []
            length = 0
            template = sandbox.template_class.from_code(
                sandbox, self._code, sandbox.make_globals(None)
            )
            for part in template.generate(**self._special, **values):
                parts.append(part)
                length += len(part)
                if length > LONGEST_TEXT:
                    raise InvalidRequest(f"the prompt is longer than {LONGEST_TEXT} characters")
                sandbox.tick()
        except _FAILURES as error:
            raise InvalidRequest(f"the chat template failed: {error}", where="/messages") from error
        pieces = list(seal.open("".join(parts)))
        marks = marks_of(self.source)
        if add_generation_prompt and marks is not None and not self._reasons:
            rendered = "".join(piece.text for piece in pieces[-2:])
            pieces.append(Piece(closing(marks, rendered), trusted=True))
        return pieces


class _Seal:
    """Substitutes for the caller's strings: a template sees unguessable names in their place."""

    def __init__(self) -> None:
        self._secret = secrets.token_hex(12)
        self._values: list[str] = []

    def close(self, value: Any) -> Any:
        """`value` with every string replaced by a substitute, except empty strings, and keys that are identifiers."""
        if isinstance(value, str):
            if not value:
                return value
            self._values.append(value)
            return f"\ue000{self._secret}:{len(self._values) - 1}\ue001"
        if isinstance(value, Mapping):
            return {
                key if _NAME.fullmatch(str(key)) else self.close(str(key)): (
                    inner if _is_plain(key, inner) else self.close(inner)
                )
                for key, inner in value.items()
            }
        if isinstance(value, Sequence):
            return [self.close(inner) for inner in value]
        return value

    def plain(self, value: Any) -> Any:
        """The inverse of `close`."""
        if isinstance(value, str):
            return "".join(piece.text for piece in self.open(value))
        if isinstance(value, Mapping):
            return {self.plain(key): self.plain(inner) for key, inner in value.items()}
        if isinstance(value, Sequence):
            return [self.plain(inner) for inner in value]
        return value

    def open(self, text: str) -> Iterator[Piece]:
        """Rendered text as pieces: trusted ones of the template, untrusted ones of the caller."""
        end = 0
        for found in _SUBSTITUTE.finditer(text):
            if found[1] != self._secret:  # the template's own, like any other half of a substitute
                continue
            yield from _own(text[end : found.start()])
            yield Piece(self._values[int(found[2])], trusted=False)
            end = found.end()
        yield from _own(text[end:])


def _own(text: str) -> Iterator[Piece]:
    """Text of the template itself; raises `InvalidRequest` if it holds a part of a substitute."""
    if "\ue000" in text or "\ue001" in text:
        raise InvalidRequest(
            "the chat template splits the caller's text, which cannot be done safely",
            where="chat_template",
            hint="use a template that prints contents unchanged",
        )
    if text:
        yield Piece(text, trusted=True)


def _is_plain(key: object, value: object) -> bool:
    """Whether a template gets a value as it is: ids of calls, of a length that it may test, and kinds."""
    if key == "type":
        return value in _KINDS
    return key in _IDS and isinstance(value, str) and _SHORT_ID.fullmatch(value) is not None


def _sandbox(deadline: float, seal: _Seal) -> TemplateSandbox:
    sandbox = TemplateSandbox(deadline, _tojson(seal))
    sandbox.globals["strftime_now"] = _strftime_now
    return sandbox


def _tojson(seal: _Seal) -> Callable[..., str]:
    def tojson(value: Any, indent: int | None = None, ensure_ascii: bool = False) -> str:
        text = json.dumps(seal.plain(value), ensure_ascii=ensure_ascii, indent=indent)
        return str(seal.close(text))

    return tojson


def _strftime_now(pattern: str) -> str:
    return datetime.now().astimezone().strftime(pattern)


def _default_of(template: object) -> str:
    """The template to use: one, the one called `default` of several, or `PLAIN`.

    Raises:
        ModelError: it is none of these.
    """
    named: object = template
    if isinstance(template, list) and all(isinstance(each, dict) for each in template):
        named = {str(each.get("name")): each.get("template") for each in template}
    chosen = named.get("default") if isinstance(named, dict) else named
    return PLAIN if chosen is None else _text(chosen, "chat_template")


def _text(value: object, name: str) -> str:
    """A value of `tokenizer_config.json` that is a text. Raises `ModelError` if it is none."""
    if not isinstance(value, str):
        raise ModelError(f"{name} in tokenizer_config.json must be a text", where=name)
    return value
