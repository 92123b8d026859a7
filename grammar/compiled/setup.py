"""Builds `intaglio_compiled`: a folder of machine code, made from the sources of this checkout.

Does: lay the sources out as they are imported, have them compiled in a separate process, pack the files. Does not:
know what is compiled (`grammar/jit/ahead_of_time.py`).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("engine", "grammar", "kernels")


class CompileLoops(build_py):
    """Compiles loops instead of copying modules; the distribution has no modules."""

    def run(self) -> None:
        folder = Path(self.build_lib).resolve() / "intaglio_compiled"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as tree:
            package = Path(tree, "intaglio")
            package.mkdir()
            for name in SOURCES:
                if not (ROOT / name / "__init__.py").exists():
                    raise SystemExit(f"intaglio-compiled is built in a checkout; {ROOT} is none")
                (package / name).symlink_to(ROOT / name)
            program = (
                f"import sys; sys.path.insert(0, {tree!r}); "
                f"from intaglio.grammar.jit.ahead_of_time import main; main({str(folder)!r})"
            )
            subprocess.run([sys.executable, "-B", "-c", program], check=True)


class ForOneMachine(Distribution):
    """Marks the wheel as specific to one version of Python and one kind of machine."""

    def has_ext_modules(self) -> bool:
        return True


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        setup(
            packages=["intaglio_compiled"],
            package_dir={"intaglio_compiled": "."},
            distclass=ForOneMachine,
            cmdclass={"build_py": CompileLoops},
            options={"build": {"build_base": scratch}},
        )
