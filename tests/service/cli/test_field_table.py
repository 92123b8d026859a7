"""The table of sources on the terminal."""

from intaglio.schemas.extraction.grounding import FieldReport, LeafConfidence, Span
from intaglio.service.cli.field_table import field_table
from rich.console import Console

TEXT = (
    "first line\nThe vendor is ACME\x1b[2J\nTrading of London, and more text that is far away\nlast"
)


def shown(fields: dict[str, FieldReport], text: str | None = TEXT) -> str:
    console = Console(width=200, force_terminal=False)
    with console.capture() as captured:
        console.print(field_table(fields, text))
    return captured.get()


def test_a_source_is_shown_within_its_line_without_control_characters() -> None:
    start = TEXT.index("ACME")
    span = Span(start=start, end=TEXT.index(" of London"))
    sure = LeafConfidence(probability=0.51234, masked=0.25)
    lines = shown({"/vendor": FieldReport(match="folded", span=span, confidence=sure)}).splitlines()
    assert lines[1].split() == [
        *("/vendor", "folded", "The", "vendor", "is", "ACME", "[2J", "Trading"),
        *("of", "London,", "and", "more", "tex", "0.512", "0.250"),
    ]


def test_a_value_without_a_source_has_an_empty_row() -> None:
    assert shown({"": FieldReport()}).splitlines()[1].split() == ["/", "none"]


def test_calibrated_probabilities_and_second_readings_have_columns() -> None:
    sure = LeafConfidence(probability=0.5, masked=0.25, calibrated=0.125, agrees=False)
    lines = shown({"/a": FieldReport(confidence=sure), "/b": FieldReport()}).splitlines()
    assert lines[0].split()[-4:] == ["probability", "masked", "right", "again"]
    assert lines[1].split() == ["/a", "none", "0.500", "0.250", "0.125", "other"]
    assert lines[2].split() == ["/b", "none"]


def test_a_long_source_is_cut() -> None:
    cut = shown({"/all": FieldReport(match="exact", span=Span(start=0, end=len(TEXT)))})
    assert "…" in cut
    assert "far away" not in cut


def test_sources_in_a_file_are_pages_and_offsets() -> None:
    report = FieldReport(match="exact", span=Span(start=7, end=9), page=2)
    assert shown({"/a": report}, None).splitlines()[1].split() == [
        "/a",
        "exact",
        "page",
        "2,",
        "7-9",
    ]
    assert shown({"/a": FieldReport()}, None).splitlines()[1].split() == ["/a", "none"]
