"""The part of Helm's templates that our chart uses: values go in, manifests come out.

The language is that of Go's text/template (actions, pipelines, `if`, `with`, `range`, `define`) with functions of
Helm's that the chart calls; any other is a KeyError. Where `helm` itself is installed, a test compares both.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_ACTION = re.compile(r"\{\{(?P<left>-\s)?(?P<action>.*?)(?P<right>\s-)?\}\}", re.DOTALL)
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[()|]|[^\s()|]+')


class ChartFailed(Exception):
    """The chart calls `fail`."""


@dataclass
class Node:
    """Text, or an action with what belongs to it."""

    action: str = ""
    text: str = ""
    body: list["Node"] = field(default_factory=list)
    otherwise: list["Node"] = field(default_factory=list)


def _fail(message: str) -> str:
    raise ChartFailed(message)


def _indented(width: int, text: str) -> str:
    return "\n" + "\n".join(" " * width + line for line in text.splitlines())


def _all(*values: Any) -> Any:
    return next((value for value in values if not value), values[-1])


def _any(*values: Any) -> Any:
    return next((value for value in values if value), values[-1])


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "and": _all,
    "default": lambda other, value: value or other,
    "div": lambda a, b: a // b,
    "fail": _fail,
    "gt": lambda a, b: a > b,
    "int": int,
    "nindent": _indented,
    "not": lambda value: not value,
    "or": _any,
    "printf": lambda form, *values: form % values,
    "quote": lambda value: json.dumps(_text(value), ensure_ascii=False),
    "toYaml": lambda value: yaml.safe_dump(value, sort_keys=True).rstrip("\n"),
    "trimSuffix": lambda suffix, text: text.removesuffix(suffix),
    "trunc": lambda width, text: text[:width],
}


class Chart:
    """A chart in a folder."""

    def __init__(self, folder: Path) -> None:
        self.facts = yaml.safe_load((folder / "Chart.yaml").read_text("utf-8"))
        self.defaults = yaml.safe_load((folder / "values.yaml").read_text("utf-8"))
        self._defined: dict[str, list[Node]] = {}
        self._files: dict[str, list[Node]] = {}
        for path in sorted((folder / "templates").iterdir()):
            nodes = iter(list(_tokens(path.read_text("utf-8"))))
            self._files[path.name] = self._parsed(nodes)[0]

    def manifests(self, values: Mapping[str, Any], release: str = "test") -> list[dict[str, Any]]:
        """What the chart makes of values over its defaults. Raises `ChartFailed` if it refuses them."""
        data = {
            "Values": merged(self.defaults, values),
            "Chart": {"Name": self.facts["name"]}
            | {key.capitalize(): value for key, value in self.facts.items() if key == "version"}
            | {"AppVersion": self.facts["appVersion"]},
            "Release": {"Name": release, "Service": "Helm"},
        }
        rendered = (
            self._run(nodes, data, {"$": data})
            for name, nodes in self._files.items()
            if name.endswith(".yaml")
        )
        documents = (doc for text in rendered for doc in yaml.safe_load_all(text))
        return [document for document in documents if document]

    def paths(self) -> set[str]:
        """All paths below `.Values` that the templates mention."""
        found = set[str]()

        def visit(nodes: Sequence[Node]) -> None:
            for node in nodes:
                found.update(re.findall(r"\.Values\.([\w.]+)", node.action))
                visit(node.body)
                visit(node.otherwise)

        for nodes in (*self._files.values(), *self._defined.values()):
            visit(nodes)
        return found

    def _parsed(self, nodes: Iterator[Node]) -> tuple[list[Node], str]:
        """Nodes up to the `end` or `else` of the action that they belong to, and which of the two it was."""
        found: list[Node] = []
        for node in nodes:
            first = node.action.partition(" ")[0]
            if first in ("end", "else"):
                return found, first
            if first in ("if", "with", "range", "define"):
                node.body, ended = self._parsed(nodes)
                if ended == "else":
                    node.otherwise, _ = self._parsed(nodes)
            if first == "define":
                self._defined[node.action.split('"')[1]] = node.body
            else:
                found.append(node)
        return found, ""

    def _run(self, nodes: Sequence[Node], dot: Any, names: Mapping[str, Any]) -> str:
        return "".join(node.text or self._act(node, dot, names) for node in nodes)

    def _act(self, node: Node, dot: Any, names: Mapping[str, Any]) -> str:
        first, _, rest = node.action.partition(" ")
        if first == "if":
            chosen = node.body if self._value(rest, dot, names) else node.otherwise
            return self._run(chosen, dot, names)
        if first == "with":
            value = self._value(rest, dot, names)
            return self._run(node.body, value, names) if value else ""
        if first == "range":
            bound, _, over = rest.partition(":=")
            key, value = (name.strip() for name in bound.split(","))
            items = self._value(over, dot, names) or {}
            return "".join(
                self._run(node.body, item, {**names, key: name, value: item})
                for name, item in sorted(items.items())
            )
        return _text(self._value(node.action, dot, names)) if node.action else ""

    def _value(self, expression: str, dot: Any, names: Mapping[str, Any]) -> Any:
        words = _WORD.findall(expression)
        value, position = self._pipeline(words, 0, dot, names)
        assert position == len(words), expression
        return value

    def _pipeline(
        self, words: Sequence[str], at: int, dot: Any, names: Mapping[str, Any]
    ) -> tuple[Any, int]:
        piped: list[Any] = []
        while True:
            terms: list[Any] = []
            while at < len(words) and words[at] not in ("|", ")"):
                if words[at] == "(":
                    term, at = self._pipeline(words, at + 1, dot, names)
                else:
                    term = self._term(words[at], dot, names)
                terms.append(term)
                at += 1
            terms += piped
            value = terms[0](*terms[1:]) if callable(terms[0]) else terms[0]
            if at == len(words) or words[at] == ")":
                return value, at
            piped, at = [value], at + 1

    def _term(self, word: str, dot: Any, names: Mapping[str, Any]) -> Any:
        if word.startswith('"'):
            return json.loads(word)
        if word.lstrip("-").isdecimal():
            return int(word)
        if word == "include":
            return lambda name, value: self._run(self._defined[name], value, {"$": value})
        if not word.startswith((".", "$")):
            return FUNCTIONS[word]
        root, *steps = word.split(".")
        value = names[root] if root else dot
        for step in filter(None, steps):
            value = value[step]
        return value


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`over` laid over `base`, objects member by member."""
    both = {
        key: merged(base[key], over[key])
        for key in base.keys() & over.keys()
        if isinstance(base[key], dict) and isinstance(over[key], dict)
    }
    return {**base, **over, **both}


def _tokens(text: str) -> Iterator[Node]:
    """Text and actions in turn; `-` inside the braces takes the white space outside."""
    at, trims = 0, False
    for found in _ACTION.finditer(text):
        yield from _between(text[at : found.start()], trims, right=bool(found["left"]))
        yield Node(action=found["action"].strip())
        at, trims = found.end(), bool(found["right"])
    yield from _between(text[at:], trims, right=False)


def _between(text: str, left: bool, *, right: bool) -> Iterator[Node]:
    """Text between actions, without the white space that they take."""
    text = text.lstrip() if left else text
    text = text.rstrip() if right else text
    if text:
        yield Node(text=text)
