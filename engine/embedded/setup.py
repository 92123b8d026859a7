"""Packages the model's files without the modules next to them (see pyproject.toml)."""

import tempfile

from setuptools import setup
from setuptools.command.build_py import build_py


class FilesOnly(build_py):
    """Packages no modules."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:  # noqa: ARG002 - the base's signature
        return []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        setup(cmdclass={"build_py": FilesOnly}, options={"build": {"build_base": scratch}})
