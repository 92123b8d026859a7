"""The page of the Python interface, from signatures and docstrings."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any, get_overloads

import intaglio
from intaglio.service import client
from intaglio.service.client import errors
from intaglio.service.offline import llm

from .markdown import HEADER, prose

INTRO = """# Python reference

Call a service (`Client`, `AsyncClient`) or run a model in your own process (`LLM`), with the same schemas, results and
errors. `pip install intaglio` brings the clients; `LLM` and `extract` need `pip install 'intaglio[server]'`.

`schema` is a Pydantic model class, a dataclass, a `TypedDict`, `list[…]` or any other type that Pydantic understands;
or a JSON Schema as a dict; or the name of a schema in the catalogue. `data` of the result is then an object of that
type, or a JSON value.
"""

_MADE_BY_CLIENTS = {"ExtractionStream"}


def page() -> str:
    parts = [HEADER + INTRO, "## Clients\n"]
    made = client.Client()
    for kind, name in (
        (client.Client, "Client"),
        (client.ExtractionStream, "ExtractionStream"),
        (type(made.schemas), "Client.schemas"),
        (type(made.jobs), "Client.jobs"),
        (client.AsyncClient, "AsyncClient"),
    ):
        parts.append(_class(kind, name, methods=kind is not client.AsyncClient))
    parts.append("## Results and options\n")
    results = (client.Extraction, client.Options, client.GuidanceOptions, client.CallOptions)
    parts += [_class(kind, kind.__name__) for kind in results]
    parts.append("## Offline\n")
    parts.append(_class(llm.LLM, "LLM"))
    parts.append(_class(llm.Completion, "Completion"))
    parts.append(_function(intaglio.extract, "intaglio.extract"))
    parts.append("## Data frames\n")
    parts.append(_function(client.extract_frame, "intaglio.extract_frame"))
    parts.append(_function(client.register_pandas, "intaglio.register_pandas"))
    parts.append("## Errors\n")
    parts.append(_errors())
    return "\n".join(parts)


def _class(kind: type, name: str, *, methods: bool = True) -> str:
    lines = [f"### {name}\n"]
    init = kind.__dict__.get("__init__")
    if (
        init is not None
        and not is_dataclass(kind)
        and name not in _MADE_BY_CLIENTS
        and "." not in name
    ):
        lines.append(_code(f"{name}{_signature(init)}"))
    lines.append(prose(inspect.getdoc(kind) or "") + "\n")
    if inspect.get_annotations(kind) and (is_dataclass(kind) or not inspect.isfunction(init)):
        lines.append(_code(_fields(kind)))
    if not methods:
        lines.append("The methods are those of `Client`, awaited.\n")
        return "\n".join(lines)
    lines += [_function(member, f"{name}.{called}") for called, member in _public(kind)]
    return "\n".join(lines)


def _public(kind: type) -> Iterator[tuple[str, Any]]:
    for name, member in kind.__dict__.items():
        if name.startswith("_"):
            continue
        if isinstance(member, property) or inspect.isfunction(member):
            yield name, member


def _function(member: Any, name: str) -> str:
    if isinstance(member, property):
        assert member.fget is not None
        signature = name + _signature(member.fget).replace("() ->", ":", 1)
        return f"#### {name}\n\n{_code(signature)}\n{prose(inspect.getdoc(member) or '')}\n"
    forms = get_overloads(member) or [member]
    code = "\n".join(f"{name}{_signature(form)}" for form in forms)
    return f"#### {name}\n\n{_code(code)}\n{prose(inspect.getdoc(member) or '')}\n"


def _signature(function: Any) -> str:
    """The parameters of a function as its source has them, one a line where they are many."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    given = [text for text in _parameters(node.args) if text != "self"]
    returns = "" if node.returns is None else ast.unparse(node.returns)
    end = "" if returns in ("", "None") else f" -> {returns}"
    short = f"({', '.join(given)}){end}"
    return short if len(short) <= 70 else "(\n    " + ",\n    ".join(given) + f",\n){end}"


def _parameters(arguments: ast.arguments) -> Iterator[str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(plain) - len(arguments.defaults)) + list(arguments.defaults)
    yield from map(_parameter, plain, defaults)
    if arguments.vararg is not None:
        yield f"*{_parameter(arguments.vararg, None)}"
    elif arguments.kwonlyargs:
        yield "*"
    yield from map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg is not None:
        yield f"**{_parameter(arguments.kwarg, None)}"


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    text = argument.arg
    if argument.annotation is not None:
        text += f": {ast.unparse(argument.annotation)}"
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _fields(kind: type) -> str:
    """The annotated fields of a class as its source has them."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
    node = tree.body[0]
    assert isinstance(node, ast.ClassDef)
    return "\n".join(ast.unparse(line) for line in node.body if isinstance(line, ast.AnnAssign))


def _code(text: str) -> str:
    return f'```{{ .python data-not-run="a signature" }}\n{text}\n```\n'


def _errors() -> str:
    tree = (errors.__doc__ or "").split("\n\n")
    drawn = next(block for block in tree if block.startswith("IntaglioError"))
    lines = [
        "Every method raises `IntaglioError` or what stems from it:\n",
        f'```{{ .text data-not-run="a drawing" }}\n{drawn}\n```\n',
    ]
    for name in client.__all__:
        kind = getattr(client, name)
        if isinstance(kind, type) and issubclass(kind, client.IntaglioError):
            lines.append(f"#### {name}\n\n{prose(inspect.getdoc(kind) or '')}\n")
    return "\n".join(lines)
