"""Read text files out of a git clone, from its newest commit and without a work tree.

Does: list paths and stream contents through one `git cat-file` process. Does not: fetch anything.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

GIT = "git"


class Clone:
    """A clone in a folder, bare or not."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def commit(self) -> str:
        """The full hash of the newest commit."""
        return self._git("rev-parse", "HEAD").strip()

    def texts(self, patterns: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """(path, text) of each UTF-8 file whose path fits one of the patterns, in the order of the paths.

        Files that a partial clone lacks and files in another encoding are skipped.
        """
        paths = [path for path in self._git("ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0") if path]
        wanted = [path for path in paths if any(fnmatch(path, pattern) for pattern in patterns)]
        command = [GIT, "-C", str(self._folder), "cat-file", "--batch"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:  # noqa: S603 - git on a folder that the caller names
            if reader.stdin is None or reader.stdout is None:
                raise RuntimeError("git offers no pipes")
            for path in wanted:
                reader.stdin.write(f"HEAD:{path}\n".encode())
                reader.stdin.flush()
                head = reader.stdout.readline().split()
                if len(head) < 3 or not head[-1].isdigit():
                    continue
                content = reader.stdout.read(int(head[-1]) + 1)[:-1]
                try:
                    yield path, content.decode()
                except UnicodeDecodeError:
                    continue
            reader.stdin.close()

    def _git(self, *arguments: str) -> str:
        command = [GIT, "-C", str(self._folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - as above
