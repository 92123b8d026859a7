"""The words of the code: the field's terms, no everyday word as a private one, data is never a person."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.architecture.source import ROOT, Module, modules

# Everyday words that once were terms here. No module, class, function, parameter or attribute has one as its name, or
# as a part of it. An exception carries its reason.
PRIVATE = frozenset(
    {
        *(
            "afresh",
            "along",
            "anew",
            "asked",
            "astray",
            "beside",
            "besides",
            "came",
            "desk",
            "doubts",
        ),
        *(
            "everyone",
            "gone",
            "heard",
            "likeness",
            "met",
            "owed",
            "said",
            "spent",
            "told",
            "wanted",
        ),
        *("whereabouts", "wishes"),
    }
)
# Pronouns for people. Documents of law quote them and users are people, so only comments and docstrings count, and
# words in quotation marks do not.
PERSONS = re.compile(r"\b(?:who|whom|whose|whoever|nobody|somebody|everybody)\b", re.IGNORECASE)
QUOTED = re.compile(r"`[^`]*`|\"[^\"\n]*\"|'[^'\n]*'")


def private_names(found: Iterable[Module]) -> list[str]:
    """Definitions whose name has a private term as one of its words."""
    return [
        f"{module.path}:{line} {name}"
        for module in found
        for line, name in _defined(module)
        if PRIVATE.intersection(re.findall(r"[A-Z]?[a-z]+", name.lower()))
    ]


def _defined(module: Module) -> Iterator[tuple[int, str]]:
    yield 1, module.path.stem
    for node in module.nodes:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.lineno, node.target.id


def persons(found: Iterable[Module]) -> list[str]:
    """Comments and docstrings that speak of data as of a person."""
    return [
        f"{module.path}:{line} {text.strip()}"
        for module in found
        if PERSONS.search(module.text)  # finding comments takes longer than all the rest
        for line, text in _prose(module)
        if PERSONS.search(QUOTED.sub("", text))
    ]


def _prose(module: Module) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in module.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                first = node.body[0].lineno
                yield from ((first + i, line) for i, line in enumerate(text.split("\n")))


def test_no_everyday_word_is_a_private_term() -> None:
    assert private_names(modules()) == []


def test_data_is_no_person() -> None:
    assert persons(modules()) == []


def test_planted_words_are_reported() -> None:
    text = (
        '"""Says who comes next, not `who` it was."""\n\n'
        "def walk_beside(desk: int) -> None: ...  # nobody reads it\n"
    )
    planted = Module("intaglio.grammar.planted", Path("grammar/planted.py"), text, ast.parse(text))
    assert private_names([planted]) == [
        "grammar/planted.py:3 walk_beside",
        "grammar/planted.py:3 desk",
    ]
    assert [line.partition(" ")[0] for line in persons([planted])] == [
        "grammar/planted.py:3",
        "grammar/planted.py:1",
    ]


# Made from the code or from measurements, by programs.
GENERATED = (Path("docs/reference"), Path("docs/conformance.md"))


def long_lines(text: str) -> list[int]:
    """Numbers of the lines of prose over 120 characters; tables and code are not prose."""
    found, in_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.lstrip().startswith("```")
        if len(line) > 120 and not in_code and not line.startswith("|"):
            found.append(number)
    return found


def test_lines_of_the_documents_are_wrapped() -> None:
    pages = [path.relative_to(ROOT) for path in (ROOT / "docs").rglob("*.md")]
    written = [p for p in pages if not any(p.is_relative_to(made) for made in GENERATED)]
    assert {str(p): long_lines((ROOT / p).read_text("utf-8")) for p in written} == {
        str(p): [] for p in written
    }


def test_a_planted_long_line_is_reported() -> None:
    long = "word " * 30
    assert long_lines(f"{long}\n```\n{long}\n```\n| {long} |\n{long}") == [1, 6]
