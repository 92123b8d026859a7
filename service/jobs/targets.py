"""The files that a job writes, checked against the files that it reads and files of others.

Does: name the files; refuse, before anything is read, outputs that cannot be written or would overwrite an input. Does
not: write files (`publish`).
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from intaglio.schemas.jobs import Output

from .job_outputs import JobOutputs
from .readers.files import members
from .records.errors import OutputRefused
from .records.file_formats import output_format

# Appended to the name of the first output.
_COMPANION_ENDINGS = (
    ".dead.jsonl",
    ".report.json",
    ".report.html",
)
_OF_A_LEDGER = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class JobInputs:
    """The files that a job reads: source, schema and ledger."""

    source: Path | None = None
    schema: Path | None = None
    ledger: Path | None = None

    def name_of(self, path: Path) -> str | None:
        """The role of `path` in the job ("the source"), under any spelling or link; None if it has none."""
        for one, name in ((self.schema, "the schema"), *self._ledger()):
            if one is not None and is_same(path, one):
                return name
        if self.source is None:
            return None
        if is_same(path, self.source):
            return "the source"
        if not self.source.is_file() and self._is_member(path):
            return "a file of the source"
        return None

    def _ledger(self) -> Iterator[tuple[Path, str]]:
        if self.ledger is not None:
            for ending in _OF_A_LEDGER:
                yield self.ledger.with_name(self.ledger.name + ending), "the ledger"

    def _is_member(self, path: Path) -> bool:
        """Whether a folder or pattern contains `path`, or would after it is written."""
        assert self.source is not None
        if _matches(path.resolve(), self.source):
            return True
        try:
            here = path.stat()
            return any(os.path.samestat(here, one.stat()) for one in members(self.source))
        except OSError:
            return False


def partial_path(path: Path) -> Path:
    """The path of results of an incomplete job: `res.csv` becomes `res.partial.csv`."""
    name, packed = path.name.removesuffix(".gz"), path.name.endswith(".gz")
    stem, ending = Path(name).stem, Path(name).suffix
    return path.with_name(f"{stem}.partial{ending}{'.gz' if packed else ''}")


def companion_files(path: Path) -> tuple[Path, ...]:
    """The paths of the dead rows and both reports of a job with the first output `path`."""
    return tuple(path.with_name(path.name + ending) for ending in _COMPANION_ENDINGS)


def check(outputs: tuple[Output, ...], reads: JobInputs | None = None) -> None:
    """Refuse outputs that cannot be written, are written twice, or are inputs of the job.

    Raises:
        OutputRefused: an output is refused.
    """
    seen: dict[Path, Path] = {}
    for path in _targets(outputs):
        if path.resolve() in seen:
            raise OutputRefused(
                f"two outputs are {path}",
                param="outputs",
                hint="the first output NAME comes with NAME.dead.jsonl, NAME.report.json and NAME.report.html; "
                "an incomplete job writes NAME.partial.csv for NAME.csv",
            )
        seen[path.resolve()] = path
        found = reads and reads.name_of(path)
        if found:
            raise OutputRefused(
                f"{path} would overwrite {found}, which the job reads",
                param="outputs",
                hint="choose another name for the result (--out)",
            )
    for output in outputs:
        _require_writable(Path(output.path))


def require_own_files(outputs: tuple[Output, ...], files: JobOutputs) -> None:
    """Refuse existing files that this job did not write, or that were changed since.

    Raises:
        OutputRefused: a file is refused; the hint mentions `--overwrite`.
    """
    for path in _targets(outputs, partials=False):
        require_own_file(path, files)


def require_known_files(outputs: tuple[Output, ...], files: JobOutputs) -> None:
    """Refuse existing files that no job of the ledger wrote. Which job is checked later, once its model is known.

    Raises:
        OutputRefused: as `require_own_files`.
    """
    for path in _targets(outputs, partials=False):
        if not files.owners(path):
            require_own_file(path, files)


def require_own_file(path: Path, files: JobOutputs) -> None:
    """`require_own_files` for one file."""
    if not os.path.lexists(path):
        return
    owners = files.owners(path)
    if files.job in owners:
        return
    whose = f"was written by job {min(owners)!r}" if owners else "is not this job's"
    raise OutputRefused(
        f"{path} exists already and {whose}",
        param="outputs",
        hint="choose another name (--out), or use --overwrite; a file changed by hand "
        "is not the job's any more",
    )


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths refer to one file, also through hard and symbolic links."""
    try:
        return path.samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def _targets(outputs: tuple[Output, ...], *, partials: bool = True) -> Iterator[Path]:
    """Every file that a job with these outputs may write."""
    for number, output in enumerate(outputs):
        output_format(output)
        whole = Path(output.path)
        for path in (whole, partial_path(whole)) if partials else (whole,):
            yield path
            if number == 0:
                yield from companion_files(path)


def _require_writable(path: Path) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise OutputRefused(
            f"{path} cannot be written: there is no folder {folder}",
            param="outputs",
            hint=f"create it first: mkdir -p {folder}",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputRefused(
            f"{path} cannot be written: you may not write to {folder}",
            param="outputs",
            hint="name a file in a folder that you may write to",
        )
    if os.path.lexists(path) and not path.is_symlink() and not stat.S_ISREG(path.stat().st_mode):
        raise OutputRefused(
            f"{path} cannot be written: it exists and is not a regular file",
            param="outputs",
            hint="name a file",
        )


def _matches(path: Path, pattern: Path) -> bool:
    """Whether a path without links matches a pattern."""
    parts = pattern.parts
    plain = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    root = Path(*parts[:plain]).resolve()
    return plain < len(parts) and _fits(path.parts, (*root.parts, *parts[plain:]))


def _fits(parts: tuple[str, ...], pattern_parts: tuple[str, ...]) -> bool:
    if not pattern_parts:
        return not parts
    if pattern_parts[0] == "**":
        return any(_fits(parts[at:], pattern_parts[1:]) for at in range(len(parts) + 1))
    return (
        bool(parts)
        and fnmatchcase(parts[0], pattern_parts[0])
        and _fits(parts[1:], pattern_parts[1:])
    )
