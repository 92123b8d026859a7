"""Pieces of Markdown that the generated pages share."""

import re
from collections.abc import Iterable, Sequence

HEADER = "<!-- Made from the code by `make docs-pages`; change the code, not this page. -->\n\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown without line breaks."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(cell, line)) + " |" for line in lines) + "\n"


def cell(text: str) -> str:
    """Text that stays within a cell. In code, a bar must not end the cell either."""
    return " ".join(text.split()).replace("|", "\\|")


def prose(docstring: str) -> str:
    """A docstring as Markdown: its paragraphs, `Raises:` and the like as lists."""
    blocks = []
    for block in docstring.strip().split("\n\n"):
        head, _, rest = block.partition("\n")
        if re.fullmatch(r"(Raises|Returns|Yields):", head.strip()):
            items = re.split(r"\n(?=\S)", "\n".join(line.strip() for line in rest.splitlines()))
            blocks.append(f"*{head.strip()}*\n\n" + "\n".join(f"- {_item(item)}" for item in items))
        else:
            blocks.append("\n".join(line.strip() for line in block.splitlines()))
    return "\n\n".join(blocks)


def _item(text: str) -> str:
    name, colon, rest = text.partition(":")
    return f"`{name}`:{rest}" if colon and " " not in name else text


def slug(heading: str) -> str:
    """The anchor that a heading has on the site and on forges, for headings of letters, digits, `_`, `/` and blanks."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())
