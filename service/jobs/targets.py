"""Which files a job writes, and what they must never be: a file that it reads, a file of somebody else.

Does: name them; refuse, before anything is read, outputs that could not be written in the end or would destroy
something. Does not: write them (`publish`).
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ...schemas.jobs import Output
from .errors import OutputRefused
from .formats import output_format
from .outputs import JobOutputs
from .readers.files import members

_COMPANION_ENDINGS = (".dead.jsonl", ".report.json", ".report.html")  # the first output
_OF_A_LEDGER = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class JobInputs:
    """The files that a job reads while it runs: its source, its schema, its ledger."""

    source: Path | None = None
    schema: Path | None = None
    ledger: Path | None = None

    def name_of(self, path: Path) -> str | None:
        """What `path` is to the job ("the source"), by whatever way it leads there; None where it is nothing."""
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
        """Whether a folder or pattern holds `path`, or would once it is written."""
        assert self.source is not None
        if _matches(path.resolve(), self.source):
            return True
        try:
            here = path.stat()
            return any(os.path.samestat(here, one.stat()) for one in members(self.source))
        except OSError:
            return False


def partial_path(path: Path) -> Path:
    """The name under which results stand before a job is complete: `res.csv` gives `res.partial.csv`."""
    name, packed = path.name.removesuffix(".gz"), path.name.endswith(".gz")
    stem, ending = Path(name).stem, Path(name).suffix
    return path.with_name(f"{stem}.partial{ending}{'.gz' if packed else ''}")


def companion_files(path: Path) -> tuple[Path, ...]:
    """The dead letters and both reports of a job whose first output is `path`."""
    return tuple(path.with_name(path.name + ending) for ending in _COMPANION_ENDINGS)


def check(outputs: tuple[Output, ...], reads: JobInputs | None = None) -> None:
    """Refuse outputs that could not be written, would be written twice, or are something that the job reads.

    Raises:
        OutputRefused: as said.
    """
    seen: dict[Path, Path] = {}
    for path in _targets(outputs):
        if path.resolve() in seen:
            raise OutputRefused(
                f"two outputs are {path}",
                param="outputs",
                hint="beside the first output NAME stand NAME.dead.jsonl and NAME.report.json and .html; "
                "before a job is complete, NAME.csv is NAME.partial.csv",
            )
        seen[path.resolve()] = path
        found = reads and reads.name_of(path)
        if found:
            raise OutputRefused(
                f"{path} would overwrite {found}, which the job reads",
                param="outputs",
                hint="give the result another name (--out)",
            )
    for output in outputs:
        _require_writable(Path(output.path))


def require_own_files(outputs: tuple[Output, ...], files: JobOutputs) -> None:
    """Refuse to write over what is there and was not written by this job, or was changed since.

    Raises:
        OutputRefused: as said; the hint is `--overwrite`.
    """
    for path in _targets(outputs, partials=False):
        require_own_file(path, files)


def require_known_files(outputs: tuple[Output, ...], files: JobOutputs) -> None:
    """Refuse to write over what no job of the ledger wrote; which job it is comes later, when its model is known.

    Raises:
        OutputRefused: as `insist_own`.
    """
    for path in _targets(outputs, partials=False):
        if not files.owners(path):
            require_own_file(path, files)


def require_own_file(path: Path, files: JobOutputs) -> None:
    """`insist_own` for one file."""
    if not os.path.lexists(path):
        return
    owners = files.owners(path)
    if files.job in owners:
        return
    whose = f"was written by job {min(owners)!r}" if owners else "is not this job's"
    raise OutputRefused(
        f"{path} is there already and {whose}",
        param="outputs",
        hint="give another name (--out), or say --overwrite; a file that was changed by hand "
        "is not the job's any more",
    )


def is_same(path: Path, other: Path) -> bool:
    """Whether two paths are one file, by links of both kinds and other spellings as well."""
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
            hint=f"make it first: mkdir -p {folder}",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputRefused(
            f"{path} cannot be written: you may not write to {folder}",
            param="outputs",
            hint="name a file in a folder that you may write to",
        )
    if os.path.lexists(path) and not path.is_symlink() and not stat.S_ISREG(path.stat().st_mode):
        raise OutputRefused(
            f"{path} cannot be written: it is there, and is no file",
            param="outputs",
            hint="name a file",
        )


def _matches(path: Path, pattern: Path) -> bool:
    """Whether a path without links would be among the files of a pattern."""
    parts = pattern.parts
    plain = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    root = Path(*parts[:plain]).resolve()
    return plain < len(parts) and _fits(path.parts, (*root.parts, *parts[plain:]))


def _fits(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_fits(parts[at:], wanted[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], wanted[0]) and _fits(parts[1:], wanted[1:])
