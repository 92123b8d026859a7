"""`intaglio demo`: extract from documents of the catalogue with the included model, and compare the results.

Does: run real extractions; show each document, its result, validity, tokens and time, and the values that differ from
the expected ones. Does not: treat any document specially.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from intaglio.schemas import catalogue
from intaglio.schemas.json_pointer import leaves, value_at
from pydantic import JsonValue
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ..client import Extraction, IntaglioError
from .cli_errors import CliError, Exit, cli_error
from .cli_errors import show as show_trouble
from .console import compact, condensed, highlighted, results, spinner, write_json
from .extract_command import summary
from .local_model import Loaded, offline

SHOWN = ("invoice", "email", "order")
EXCERPT_LINES = 26
SIDE_BY_SIDE = 110  # columns from which document and result are shown side by side


@dataclass(frozen=True, slots=True)
class DemoDocument:
    """One document of the demo with its result or error."""

    entry: catalogue.CatalogueEntry
    outcome: Extraction[Any] | CliError

    @property
    def valid(self) -> bool:
        return isinstance(self.outcome, Extraction) and self.outcome.valid

    @property
    def data(self) -> JsonValue:
        """The extracted data; None without a result."""
        return self.outcome.data if isinstance(self.outcome, Extraction) else None

    def differences(self) -> list[tuple[str, JsonValue, JsonValue]]:
        """Pointer, value and expected value of each difference; None for a missing value.

        An empty list or object in place of a filled one, or vice versa, is one difference.
        """
        found, expected = dict(leaves(self.data)), dict(leaves(self.entry.expected))
        by_place: dict[str, tuple[str, JsonValue, JsonValue]] = {}
        for pointer in {**expected, **found}:
            actual = pointer in found, found.get(pointer)
            right = pointer in expected, expected.get(pointer)
            if actual != right:
                place = _difference_place(pointer, found, expected)
                by_place[place] = (
                    place,
                    _at(self.data, place),
                    _at(self.entry.expected, place),
                )
        return list(by_place.values())


def run(model: str | None, *, every: bool, as_json: bool) -> Exit:
    """Run the demo. Returns `FAILED` if any document has no valid result."""
    names = catalogue.names() if every else SHOWN
    started = time.perf_counter()
    console = results()
    with offline(model) as loaded:
        if not as_json:
            console.print(_head(loaded))
        shown = []
        for name in names:
            shown.append(_extract(loaded, catalogue.get(name)))
            if not as_json:
                show(console, shown[-1])
        seconds = time.perf_counter() - started
    if as_json:
        write_json(_document(shown, loaded, seconds), raw=True)
    else:
        console.print(_foot(shown, loaded, seconds))
    return Exit.OK if all(document.valid for document in shown) else Exit.FAILED


def _at(value: JsonValue, pointer: str) -> JsonValue:
    """The value at a JSON Pointer; None if it does not exist."""
    try:
        found: JsonValue = value_at(value, pointer)
    except LookupError:
        return None
    return found


def _difference_place(
    pointer: str, found: Mapping[str, JsonValue], expected: Mapping[str, JsonValue]
) -> str:
    """The place to report for a differing leaf: its parent if one side is an empty list or object, else the leaf."""
    parts = pointer.split("/")
    above = ("/".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next(
        (p for p in above if _is_empty(found.get(p)) or _is_empty(expected.get(p))), pointer
    )


def _is_empty(value: JsonValue) -> bool:
    return isinstance(value, dict | list) and not value


def _extract(loaded: Loaded, entry: catalogue.CatalogueEntry) -> DemoDocument:
    try:
        with spinner(f"reading the {entry.title.lower()}"):
            return DemoDocument(entry, loaded.llm.extract(entry.schema, entry.sample))
    except IntaglioError as error:
        found = cli_error(error)
        assert found is not None, "every error of the SDK has a CliError"
        return DemoDocument(entry, found)


def _head(loaded: Loaded) -> Text:
    info = loaded.llm.info
    return Text(
        f"Intaglio · model {info.model} · {info.parameters / 1e6:.1f} M parameters · "
        f"{info.device} · loaded in {loaded.seconds:.1f} s"
    )


def show(console: Console, shown: DemoDocument) -> None:
    """Print one document and its result, side by side if the terminal is wide enough."""
    entry = shown.entry
    console.print()
    console.print(Rule(Text(entry.title, style="bold"), align="left", style="dim"))
    wide = console.width >= SIDE_BY_SIDE
    width = (console.width - 3) // 2 if wide else console.width
    document = Panel(Text(_excerpt(entry.sample), style="dim"), border_style="dim", padding=(0, 1))
    if not isinstance(shown.outcome, Extraction):
        console.print(document)
        show_trouble(shown.outcome, entry.name)
        return
    result = highlighted(condensed(shown.outcome.data, width), wrap=True)
    console.print(_side_by_side(document, result) if wide else Group(document, result))
    console.print(_verdict(shown))


def _side_by_side(left: RenderableType, right: RenderableType) -> Table:
    table = Table.grid(expand=True, padding=(0, 1))
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row(left, right)
    return table


def _excerpt(text: str) -> str:
    lines = text.strip("\n").splitlines()
    if len(lines) <= EXCERPT_LINES:
        return "\n".join(lines)
    kept = lines[: EXCERPT_LINES - 1]
    return "\n".join([*kept, f"… and {len(lines) - len(kept)} more lines"])


def _verdict(shown: DemoDocument) -> Text:
    assert isinstance(shown.outcome, Extraction)
    text = Text("valid" if shown.valid else "INVALID", style="green" if shown.valid else "red")
    text.append(f" {summary(shown.outcome).partition(' ')[2]}\n", style="default")
    differences = shown.differences()
    total = len(list(leaves(shown.entry.expected)))
    wrong = sum(len(list(leaves(expected))) for _, _, expected in differences)
    text.append(
        f"all {total} values as expected" if not wrong else f"{wrong} of {total} values differ",
        style="green" if not wrong else "yellow",
    )
    for pointer, value, expected in differences:
        text.append(
            f"\n  {pointer}: {compact(value)}, expected {compact(expected)}", style="yellow"
        )
    return text


def _foot(shown: Sequence[DemoDocument], loaded: Loaded, seconds: float) -> Text:
    valid = sum(document.valid for document in shown)
    return Text(
        f"\n{valid} of {len(shown)} valid · {seconds:.1f} s in all: {loaded.seconds:.1f} s to load, "
        f"{_model_ms(shown) / 1000:.1f} s of model work",
        style="bold green" if valid == len(shown) else "bold red",
    )


def _model_ms(shown: Sequence[DemoDocument]) -> float:
    timings = [
        document.outcome.timings for document in shown if isinstance(document.outcome, Extraction)
    ]
    return sum(timing.prefill_ms + timing.decode_ms for timing in timings)


def _document(shown: Sequence[DemoDocument], loaded: Loaded, seconds: float) -> dict[str, Any]:
    documents = []
    for demo in shown:
        document: dict[str, Any] = {"name": demo.entry.name, "valid": demo.valid}
        if isinstance(demo.outcome, Extraction):
            document["data"] = demo.outcome.data
            document["usage"] = demo.outcome.usage.model_dump()
            document["timings"] = demo.outcome.timings.model_dump()
            document["differences"] = [
                {"pointer": pointer, "value": value, "expected": expected}
                for pointer, value, expected in demo.differences()
            ]
        else:
            document["error"] = demo.outcome.document()
        documents.append(document)
    return {
        "model": loaded.llm.info.model,
        "valid": all(document.valid for document in shown),
        "documents": documents,
        "seconds": round(seconds, 3),
        "load_seconds": round(loaded.seconds, 3),
        "model_seconds": round(_model_ms(shown) / 1000, 3),
    }
