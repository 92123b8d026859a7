"""`intaglio schema infer`, `diff`, `test`, `from` and `dialect`.

Does: read files, call the tools, print for people or programs. Does not: infer, compare, test or translate
(`schema_tools`).
"""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.text import Text

from ..schema_tools.source_text import SourceError
from .cli_errors import CliError, Exit
from .console import compact, results, spinner, write_json
from .documents import decoded, text_of


def infer(files: Sequence[str], *, as_json: bool) -> Exit:
    """Print the schema of the documents in some files."""
    from ..schema_tools.infer import inferred

    examples = [example for name in files for example in _documents(name)]
    if not examples:
        raise CliError("there are no documents in these files", Exit.USAGE)
    write_json(inferred(examples), raw=as_json)
    return Exit.OK


def diff(old: str, new: str, *, strict: bool, as_json: bool) -> Exit:
    """Print the differences of two schemas; with `strict`, fail if old documents may be invalid now."""
    from ..schema_tools.diff import NARROWER, SAME, UNKNOWN, WIDER, changes

    found = changes(_schema(old), _schema(new))
    if as_json:
        rows = [{"pointer": c.pointer, "effect": c.effect, "what": c.what} for c in found]
        sys.stdout.write(compact(rows) + "\n")
    else:
        styles = {NARROWER: "red", WIDER: "green", UNKNOWN: "yellow", SAME: "dim"}
        for change in found:
            line = Text(f"{change.effect:9}", style=styles[change.effect])
            results().print(
                line.append(f"{change.pointer or 'the whole'}: {change.what}", style=""),
                soft_wrap=True,
            )
        if not found:
            results().print("the schemas are equal", style="green")
    breaks = any(change.effect in (NARROWER, UNKNOWN) for change in found)
    return Exit.REFUSED if strict and breaks else Exit.OK


def show_samples(name: str, model: str | None, count: int, seed: int, *, as_json: bool) -> Exit:
    """Print documents that a schema allows, and some that it just forbids; fail if masks and validator disagree."""
    from intaglio.grammar.api import Constraint, GrammarError, KeyOrder, Kind

    from ..extraction.validate import faults
    from ..schema_tools.schema_test import accepts, near_misses, samples

    schema = _schema(name)
    with spinner("compiling"):
        compiler = _compiler(model)
        constraint = Constraint(Kind.JSON_SCHEMA, compact(schema))
        # For the validator, properties may be in any order, and unless the schema closes an object, there may be more.
        lenient = replace(constraint, key_order=KeyOrder.ANY, extra_properties=True)
        try:
            written = samples(compiler, constraint, count, seed)
            whole = accepts(compiler, lenient)
        except GrammarError as error:
            hint = "`intaglio schema explain` names every place"
            raise CliError(error.message, Exit.REFUSED, code=error.code, hint=hint) from None
        bad = [text for text in written if next(faults(json.loads(text), schema), None) is not None]
        missed = near_misses(schema, written, whole, count)
    if as_json:
        rows = [
            {"text": m.text, "change": m.change, "reason": m.reason, "agrees": m.agrees}
            for m in missed
        ]
        sys.stdout.write(
            compact({"samples": written, "near_misses": rows, "invalid_samples": bad}) + "\n"
        )
    else:
        console = results()
        console.print("allowed", style="bold green")
        for text in written:
            console.print(Text("  " + text), soft_wrap=True)
        console.print("near misses", style="bold red")
        for miss in missed:
            console.print(Text("  " + miss.text), soft_wrap=True)
            why = f"refused: {miss.reason}" if miss.reason else "allowed as well"
            console.print(Text(f"    {miss.change}: {why}", style="dim"), soft_wrap=True)
    wrong = [*bad, *(miss.text for miss in missed if not miss.agrees)]
    if wrong:
        raise CliError(
            f"masks and validator disagree on {len(wrong)} documents, the first is {wrong[0][:200]}",
            hint="this is a defect: please report it with the schema",
        )
    return Exit.OK


def translate(language: str, source: str, name: str | None, *, as_json: bool) -> Exit:
    """Print the JSON Schema of a declaration in another language."""
    readers = _readers()
    if language not in readers:
        raise CliError(
            f"there is no language {language!r}", Exit.USAGE, hint=f"there are {', '.join(readers)}"
        )
    try:
        found = readers[language](source, name)
    except SourceError as error:
        raise CliError(f"{source}: {error}", Exit.INVALID, hint=error.hint) from None
    write_json(found, raw=as_json)
    return Exit.OK


def show_dialect(*, as_json: bool) -> Exit:
    """Print the JSON Schema of schemas with the keyword `x-intaglio`."""
    from intaglio.schemas.dialect import dialect

    write_json(dialect(), raw=as_json)
    return Exit.OK


def _readers() -> dict[str, Callable[[str, str | None], dict[str, Any]]]:
    from ..schema_tools.dtd import from_dtd
    from ..schema_tools.protobuf import from_protobuf
    from ..schema_tools.python_types import from_python
    from ..schema_tools.sql_tables import from_sql
    from ..schema_tools.typescript import from_typescript
    from ..schema_tools.xsd import from_xsd

    def of_file(
        read: Callable[[str, str | None], dict[str, Any]],
    ) -> Callable[[str, str | None], dict[str, Any]]:
        return lambda source, name: read(_text(source), name)

    return {
        "pydantic": lambda source, name: from_python(f"{source}:{name}" if name else source),
        "ts": of_file(from_typescript),
        "proto": of_file(from_protobuf),
        "sql": of_file(from_sql),
        "xsd": of_file(from_xsd),
        "dtd": of_file(from_dtd),
    }


def _compiler(model: str | None) -> Any:
    from intaglio.engine.api import model_folder
    from intaglio.grammar.api import Compiler

    from ..extraction.text_model import TextModel

    text = TextModel.load(model_folder(model))
    return Compiler(text.vocabulary, text.tokenizer.canonical)


def _text(name: str) -> str:
    return (
        decoded("standard input", sys.stdin.buffer.read()) if name == "-" else text_of(Path(name))
    )


def _schema(name: str) -> dict[str, Any] | bool:
    from intaglio.schemas import catalogue

    if name in catalogue.names():
        return catalogue.get(name).schema
    value = _parsed(name, _text(name))
    if not isinstance(value, dict | bool):
        raise CliError(f"{name}: a schema is an object or a boolean", Exit.INVALID)
    return value


def _documents(name: str) -> list[Any]:
    """The documents of a file: one JSON value, or one a line; the items of an array are documents."""
    text = _text(name)
    if Path(name).suffix in (".jsonl", ".ndjson"):
        return [
            _parsed(f"{name}:{i}", line)
            for i, line in enumerate(text.split("\n"), 1)
            if line.strip()
        ]
    value = _parsed(name, text)
    return value if isinstance(value, list) else [value]


def _parsed(name: str, text: str) -> Any:
    from intaglio.grammar.api import InvalidJson, parse_json

    try:
        return parse_json(text)
    except InvalidJson as error:
        raise CliError(f"{name}: not JSON: {error}", Exit.INVALID) from None
