"""The output file of a command: never one of its inputs, and complete or not there.

Does: refuse outputs that are inputs or cannot be written, and replace a file only by a complete one. Does not: format
results (`extract_command`).
"""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from .cli_errors import CliError, Exit
from .console import errors

_OPEN_FILE: Final = re.compile(r"/(dev|proc/[^/]+)/fd/\d+")
_MOST_LINKS: Final = 8
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def require_outputs(
    outputs: Mapping[str, Path | None], inputs: Iterable[str | Path | None]
) -> None:
    """Refuse output files, by option, that are inputs or one another, or that cannot be written.

    Call it before a long run, which would lose its work at its last step.

    Raises:
        CliError: an output is an input or another output, is a folder, or its folder is absent or not writable.
    """
    names = [str(name) for name in inputs if name is not None]
    before: dict[str, Path] = {}
    for option, output in outputs.items():
        if output is None:
            continue
        require_no_input_overwritten(output, names, option)
        for other, path in before.items():
            same = os.path.realpath(output) == os.path.realpath(path) or _is_same(output, path)
            if same and not _is_device(output):
                raise CliError(f"{other} and {option} are the same file, {output}", Exit.USAGE)
        before[option] = output
        _require_writable(output)


def _require_writable(output: Path) -> None:
    if output.is_dir():
        raise CliError(f"cannot write {output}: it is a folder", Exit.USAGE)
    if not output.parent.is_dir():
        raise CliError(
            f"cannot write {output}: there is no folder {output.parent}",
            Exit.USAGE,
            hint=f"create it first: mkdir -p {output.parent}",
        )
    if not os.access(output if output.exists() else output.parent, os.W_OK):
        raise CliError(f"cannot write {output}: {os.strerror(errno.EACCES)}", Exit.USAGE)


def write_whole(path: Path, text: str) -> None:
    """Write a file at once: a fault leaves what was there before. A device or pipe is written directly.

    Raises:
        CliError: the file cannot be written.
    """
    if _is_device(path):
        try:
            # Not "w": standard output may be a file to which others have written.
            with path.open("a", encoding="utf-8") as device:
                device.write(text)
        except OSError as error:
            raise CliError(f"cannot write {path}: {error.strerror}") from None
        return
    with replacing(path) as file:
        file.write(text)


def require_no_input_overwritten(
    output: Path, inputs: Iterable[str], option: str = "--output"
) -> None:
    """Refuse an output file that is one of the inputs, under any name; `-` is standard input.

    Raises:
        CliError: the output would overwrite an input.
    """
    for name in inputs:
        if name != "-" and _is_same(output, Path(name)):
            raise CliError(
                f"{output} would overwrite {name}, which is an input",
                Exit.USAGE,
                hint=f"choose another name for the result ({option})",
            )


def _is_same(output: Path, other: Path) -> bool:
    """Whether two paths refer to the same file, also through links and alternative spellings."""
    try:
        return output.samefile(other)
    except OSError:
        return os.path.lexists(other) and os.path.realpath(output) == os.path.realpath(other)


def _is_device(path: Path) -> bool:
    """Whether a path is there and is neither a regular file nor a folder, such as `/dev/tty`; or is the name of an open
    file, such as `/dev/stdout`, which must not be replaced even if that is a regular one.
    """
    return path.exists() and (_is_open_file(path) or not (path.is_file() or path.is_dir()))


def _is_open_file(path: Path) -> bool:
    here = Path(os.path.abspath(path))  # noqa: PTH100  links are followed one by one
    for _ in range(_MOST_LINKS):
        if _OPEN_FILE.fullmatch(str(here)):
            return True
        if not here.is_symlink():
            return False
        here = Path(os.path.abspath(here.parent / here.readlink()))  # noqa: PTH100
    return False


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A file that replaces `path` once it is complete; partial output remains beside it as `.part`. Of a link, the file
    that it leads to is replaced.
    """
    if os.path.lexists(path) and (not path.is_file() or _is_open_file(path)):
        raise CliError(f"cannot write {path}: it exists and is not a regular file", Exit.USAGE)
    path = path.resolve() if path.is_symlink() else path
    part, file = _partial_file(path)
    whole = False
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        whole = True
    except OSError as error:
        if error.filename is None and error.errno in _FULL:
            raise CliError(f"cannot write {path}: {error.strerror}") from None
        raise
    finally:
        if part.stat().st_size == 0:
            part.unlink()
        elif whole:
            part.replace(path)
        else:
            errors().print(f"the results so far are in {part}")


def _partial_file(path: Path) -> tuple[Path, TextIO]:
    """Create a new file beside `path` and return it with its path; existing files are never overwritten."""
    for number in range(1, 1000):
        part = path.with_name(f"{path.name}{f'.{number}' if number > 1 else ''}.part")
        try:
            return part, part.open("x", encoding="utf-8")
        except FileExistsError:
            continue
        except OSError as error:
            raise CliError(f"cannot write {path}: {error.strerror}", Exit.USAGE) from None
    raise CliError(f"cannot write {path}: there are 999 of {path.name}.part", Exit.USAGE)
