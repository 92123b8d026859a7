"""`intaglio schema explain` and `intaglio schema check`: how a schema, pattern or grammar is enforced.

Does: read files, request explanations, print them for people or programs. Does not: examine schemas (`explain`).
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from intaglio.schemas import catalogue
from intaglio.schemas.extraction.explanation import ExplainResult, KeywordReport
from intaglio.schemas.problem import Code
from rich.table import Table
from rich.text import Text

from .cli_errors import CliError, Exit
from .console import compact, results, spinner, write_json
from .documents import decoded, text_of

if TYPE_CHECKING:
    from intaglio.grammar.api import Constraint

_SUFFIXES = {".regex": "regex", ".ebnf": "ebnf", ".lark": "lark"}


@dataclass(frozen=True, slots=True)
class SchemaInput:
    """Options for reading a schema and for the form of its output, as typed."""

    kind: str | None = None
    whitespace: str = "compact"
    any_order: bool = False
    extra_properties: bool = False
    refs: tuple[str, ...] = ()


def explain(name: str, form: SchemaInput, model: str | None, *, as_json: bool) -> Exit:
    """Explain one schema, pattern or grammar in full."""
    constraint, schema = _constraint(name, form)
    with spinner("compiling"):
        from intaglio.engine.api import model_folder

        from ..extraction.schema_explainer import Explainer
        from ..extraction.text_model import TextModel

        found = Explainer(TextModel.load(model_folder(model))).of(constraint, schema)
    if as_json:
        write_json(found.model_dump(mode="json"), raw=True)
    else:
        _show(name, found)
    return _exit(found)


def check(names: Sequence[str], form: SchemaInput, *, strict: bool, as_json: bool) -> Exit:
    """Print a line for each schema and its problems; returns the greatest exit code.

    Unknown keywords are reported; with `strict` they fail the check.
    """
    from ..extraction.schema_explainer import judge_constraint

    if names.count("-") > 1:
        raise CliError("standard input (-) can be read only once", Exit.USAGE)
    end = Exit.OK
    for name in names:
        found = judge_constraint(_constraint(name, form)[0])
        end = max(end, _exit(found), Exit.REFUSED if strict and _unknown(found) else Exit.OK)
        if as_json:
            fields = found.model_dump(
                mode="json",
                include={"enforced", "code", "message", "refusals", "keywords", "contract"},
            )
            sys.stdout.write(compact({"file": name, **fields}) + "\n")
        else:
            _verdict(name, found)
            _refusals(found)
            for keyword in found.keywords:
                if keyword.tier is None:
                    _line(f"  {keyword.pointer} is not enforced: {_why(keyword)}", "yellow")
    return end


def _unknown(found: ExplainResult) -> int:
    return sum(keyword.unknown for keyword in found.keywords)


def _why(keyword: KeywordReport) -> str:
    return f"{keyword.reason}; {keyword.hint}" if keyword.hint else keyword.reason


def _exit(found: ExplainResult) -> Exit:
    if found.enforced:
        return Exit.OK
    return Exit.INVALID if found.code is Code.INVALID_SCHEMA else Exit.REFUSED


def _constraint(name: str, form: SchemaInput) -> "tuple[Constraint, dict[str, Any] | bool | None]":
    """The constraint, and its parsed value if it is a JSON Schema. Raises `CliError` if it is unreadable."""
    from intaglio.grammar.api import (
        READY,
        Constraint,
        InvalidJson,
        KeyOrder,
        Kind,
        Whitespace,
        parse_json,
        ready_source,
    )

    kinds = {kind.value: kind for kind in Kind}
    ready = name in READY and not Path(name).exists()
    by_name = Kind.LARK.value if ready else _SUFFIXES.get(Path(name).suffix)
    named = form.kind or by_name or Kind.JSON_SCHEMA.value
    if named not in kinds:
        raise CliError(
            f"there is no kind {named!r}", Exit.USAGE, hint=f"there are {', '.join(kinds)}"
        )
    source = ready_source(name) or "" if ready else _source(name)
    value: Any = None
    if kinds[named] is Kind.JSON_SCHEMA:
        try:
            value = parse_json(source)
        except InvalidJson:
            value = None  # the compiler reports the mistake
    if kinds[named] is Kind.REGEX:
        source = source.removesuffix("\n")
    try:
        constraint = Constraint(
            kinds[named],
            source,
            Whitespace(form.whitespace),
            extra_properties=form.extra_properties,
            key_order=KeyOrder.ANY if form.any_order else KeyOrder.SCHEMA,
            schemas=tuple(map(_reference, form.refs)),
        )
    except ValueError as error:
        raise CliError(str(error), Exit.USAGE) from None
    return constraint, value if isinstance(value, dict | bool) else None


def _source(name: str) -> str:
    if name == "-":
        return decoded("standard input", sys.stdin.buffer.read())
    if name in catalogue.names():
        return compact(catalogue.get(name).schema)
    return text_of(Path(name))


def _reference(given: str) -> tuple[str, str]:
    uri, found, file = given.partition("=")
    if not found:
        raise CliError(f"{given!r} is not URI=FILE", Exit.USAGE)
    return uri, text_of(Path(file))


def _show(name: str, found: ExplainResult) -> None:
    from intaglio.grammar.api import TIERS

    console = results()
    _verdict(name, found)
    _refusals(found)
    if found.keywords:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("place", style="cyan", overflow="fold")
        table.add_column("tier")
        table.add_column("how", overflow="fold")
        for keyword in found.keywords:
            tier = keyword.tier
            means = keyword.reason or TIERS.get(tier or "", "")
            how = f"not enforced: {_why(keyword)}" if tier is None else means
            table.add_row(
                Text(keyword.pointer), tier or "-", Text(how, style="" if tier else "yellow")
            )
        console.print()
        console.print(table)
    facts = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    facts.add_column(style="bold")
    facts.add_column(overflow="fold")
    for label, value in _facts(found):
        facts.add_row(label, Text(value))
    if facts.row_count:
        console.print()
        console.print(facts)
    if found.prompt is not None:
        console.print(f"\nadds {found.prompt.tokens} tokens to a prompt:", style="bold")
        console.print(Text(found.prompt.text), soft_wrap=True)


def _facts(found: ExplainResult) -> list[tuple[str, str]]:
    rows = []
    if found.cost is not None:
        states = "" if found.cost.states is None else f"{found.cost.states} states, "
        rows += [
            ("followed by", f"{found.engine}{': ' if found.note else ''}{found.note}"),
            (
                "compiled in",
                f"{found.cost.compile_ms:.1f} ms, {states}{found.cost.bytes} bytes at first",
            ),
            ("first mask", f"{found.cost.first_mask_ms:.1f} ms"),
        ]
    if found.shortest is not None:
        rows.append(("shortest", f"{found.least_tokens} tokens: {found.shortest}"))
    if found.typical is not None:
        rows.append(("typical", f"{found.typical_tokens} tokens: {found.typical}"))
    return rows


def _verdict(name: str, found: ExplainResult) -> None:
    unknown, unread = _unknown(found), sum(word.tier is None for word in found.keywords)
    if found.enforced and unknown:
        _line(f"{name}: not everything is enforced: unknown keywords ({unknown})", "yellow")
    elif found.enforced and unread:
        _line(f"{name}: every assertion is enforced; some keywords assert nothing", "green")
    elif found.enforced:
        _line(f"{name}: every assertion is enforced", "green")
    else:
        _line(f"{name}: {found.code}: {found.message}", "bold red")


def _refusals(found: ExplainResult) -> None:
    for refusal in found.refusals:
        _line(f"  {refusal.pointer or 'the whole'}: {refusal.reason}", "cyan")
        if refusal.hint:
            _line(f"    hint: {refusal.hint}", "green")


def _line(text: str, style: str) -> None:
    results().print(text, style=style, soft_wrap=True)
