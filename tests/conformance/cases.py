"""The cases of the conformance report: the JSON-Schema-Test-Suite and the open part of JSONSchemaBench.

Does: find the data and read it, decimals kept. Does not: judge.
"""

import lzma
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from intaglio.grammar.jsonschema.read import dialects
from intaglio.grammar.jsonschema.read.values import Json, read

DRAFTS = {
    "draft2020-12": dialects.DRAFT2020,
    "draft2019-09": dialects.DRAFT2019,
    "draft7": dialects.DRAFT7,
    "draft6": dialects.DRAFT6,
    "draft4": dialects.DRAFT4,
}


def data_folder() -> Path | None:
    """The folder of test data, None where there is none."""
    root = os.environ.get("INTAGLIO_TEST_DATA")
    folder = Path(root) if root else Path(__file__).parents[3] / "shared" / "data"
    return folder if folder.is_dir() else None


@dataclass(frozen=True)
class Instance:
    """One value and whether it is valid."""

    name: str
    data: Json
    valid: bool


@dataclass(frozen=True)
class Group:
    """A schema with instances. `part` is what it counts under in the report."""

    name: str
    part: str
    dialect: dialects.Dialect
    schema: Json
    formats: bool
    instances: tuple[Instance, ...]


def remotes(folder: Path) -> dict[str, Json]:
    """What `http://localhost:1234/` stands for in the suite."""
    root = folder / "json-schema-test-suite" / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(root).as_posix()}": read(path.read_bytes())
        for path in sorted(root.rglob("*.json"))
    }


def suite(folder: Path, draft: str) -> Iterator[Group]:
    """One draft of the JSON-Schema-Test-Suite; formats are asserted where the tests say so: in `optional/format`."""
    root = folder / "json-schema-test-suite" / "tests" / draft
    for path in sorted(root.rglob("*.json")):
        place = path.relative_to(root).with_suffix("").as_posix()
        part = "required" if "/" not in place else place.rpartition("/")[0]
        groups = read(path.read_bytes())
        assert isinstance(groups, list)
        for number, group in enumerate(groups):
            yield Group(
                f"{draft}/{place}/{number}: {group['description']}",
                f"{draft} {part}",
                DRAFTS[draft],
                group["schema"],
                part == "optional/format",
                tuple(
                    Instance(test["description"], test["data"], test["valid"])
                    for test in group["tests"]
                ),
            )


def bench(folder: Path) -> Iterator[Group]:
    """The open part of JSONSchemaBench; schemas without instances are left out."""
    with lzma.open(folder / "jsonschemabench" / "open.jsonl.xz") as lines:
        for line in lines:
            record = read(line)
            assert isinstance(record, dict)
            if record["tests"]:
                yield Group(
                    record["id"],
                    "JSONSchemaBench",
                    dialects.DRAFT2020,
                    record["schema"],
                    True,  # noqa: FBT003
                    tuple(
                        Instance(str(number), test["data"], test["valid"])
                        for number, test in enumerate(record["tests"])
                    ),
                )
