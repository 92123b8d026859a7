"""The file format of a source and of an output: as named in the job, else by the ending of the file name.

Does: choose. Does not: read or write files (`readers`, `writers`).
"""

from pathlib import Path
from typing import Final, get_args

from intaglio.schemas.jobs import InputFormat, Output, OutputFormat, Source

from .errors import InputRefused, OutputRefused

IMAGE_ENDINGS: Final = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")
"""The ends of names of images that a model may see."""

_SOURCE_ENDINGS: dict[str, InputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xml": "xml",
    ".txt": "text",
    ".md": "text",
    **dict.fromkeys(
        (".pdf", ".docx", ".xlsx", ".xlsb", ".xls", ".ods", ".html", ".htm", ".eml"), "text"
    ),
    **dict.fromkeys(IMAGE_ENDINGS, "text"),
}
_COMPRESSED = (".gz", ".zst", ".zstd")
_OUTPUT_ENDINGS: dict[str, OutputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xml": "xml",
}


def source_format(source: Source, path: Path) -> InputFormat:
    """The format named in the source, else the format of the file name's ending.

    Raises:
        InputRefused: neither is known.
    """
    if source.format is not None:
        return source.format
    if path.is_dir() or any(mark in path.name for mark in "*?["):
        return "text"
    name = path.name.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    found = _SOURCE_ENDINGS.get(Path(name).suffix)
    if found is None and name.endswith(".json"):
        raise InputRefused(
            f"{path.name!r} may be JSON Lines or a single JSON value",
            param="source.format",
            hint="if each line is an object, name the format jsonl; write an array as such lines first (jq -c '.[]')",
        )
    if found is None:
        raise InputRefused(
            f"the name {path.name!r} does not say what the file is",
            param="source.format",
            hint=f"name its format: {', '.join(get_args(InputFormat))}",
        )
    return found


def output_format(output: Output) -> OutputFormat:
    """The format named in the output, else the format of the file name's ending.

    Raises:
        OutputRefused: neither is known.
    """
    found = output.format or _OUTPUT_ENDINGS.get(Path(output.path).suffix.lower())
    if found is None:
        raise OutputRefused(
            f"the name {Path(output.path).name!r} does not say what to write",
            param="outputs",
            hint=f"name the format: {', '.join(get_args(OutputFormat))}",
        )
    return found
