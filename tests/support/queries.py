"""Prometheus queries, as far as tests read them."""

import re
from collections.abc import Iterable, Iterator

from prometheus_client.core import Metric

_METRIC = re.compile(r"\b((?:intaglio_|process_|vllm:)\w+)")
_WORD_OF_A_METRIC = re.compile(r"\b(\w+)\s*(?:\{[^}]*\})?\s*\[")


def metrics_of(query: str) -> set[str]:
    """The names of metrics in a query."""
    without_strings = re.sub(r'"[^"]*"', '""', query)
    return set(_METRIC.findall(without_strings)) | set(_WORD_OF_A_METRIC.findall(without_strings))


def labels_of(query: str) -> set[str]:
    """The names of labels that a query selects or groups by."""
    selected = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", query)
    grouped = [
        label.strip()
        for group in re.findall(r"by \(([^)]*)\)", query)
        for label in group.split(",")
    ]
    return {label for label in (*selected, *grouped) if label}


def exposed(families: Iterable[Metric]) -> Iterator[str]:
    """The names of samples that families may have in Prometheus' text format."""
    for family in families:
        match family.type:
            case "counter":
                yield f"{family.name}_total"
            case "histogram":
                yield from (f"{family.name}_{part}" for part in ("bucket", "count", "sum"))
            case _:
                yield family.name
