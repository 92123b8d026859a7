"""The output file of a command: never one of its inputs, and complete or not there.

Does: refuse to overwrite inputs, and replace a file only by a complete one. Does not: format results
(`extract_command`).
"""

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from .cli_errors import CliError, Exit
from .console import errors

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def require_no_input_overwritten(output: Path, inputs: Iterable[str]) -> None:
    """Refuse an output file that is one of the inputs, under any name; `-` is standard input.

    Raises:
        CliError: the output would overwrite an input.
    """
    for name in inputs:
        if name != "-" and _is_same(output, Path(name)):
            raise CliError(
                f"{output} would overwrite {name}, which is an input",
                Exit.USAGE,
                hint="choose another name for the result (--output)",
            )


def _is_same(output: Path, other: Path) -> bool:
    """Whether two paths refer to the same file, also through links and alternative spellings."""
    try:
        return output.samefile(other)
    except OSError:
        return os.path.lexists(other) and os.path.realpath(output) == os.path.realpath(other)


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """A file that replaces `path` once it is complete; partial output remains beside it as `.part`."""
    if os.path.lexists(path) and not path.is_file():
        raise CliError(f"cannot write {path}: it exists and is not a regular file", Exit.USAGE)
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
