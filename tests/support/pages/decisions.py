"""The list of decisions, from their titles."""

from pathlib import Path

from .markdown import HEADER

DECISIONS = Path(__file__).resolve().parents[3] / "docs" / "decisions"
INTRO = """# Decisions

Read why a part of Intaglio is built as it is, and what the alternatives were.

"""


def page() -> str:
    lines = [HEADER + INTRO]
    for file in sorted(DECISIONS.glob("*.md")):
        if file.name != "index.md":
            title = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            lines.append(f"- [{title}]({file.name})\n")
    return "".join(lines)
