"""What pyproject.toml cannot say: the sub-packages of the five folders, and where a checkout has its other two parts.

The extra `server` needs the distributions `intaglio-embedded` (the model's files) and `intaglio-compiled` (machine
code), which a checkout builds from folders of its own. In a checkout the requirement is therefore a path; in a source
archive, which has neither folder, it stays a version.
"""

from pathlib import Path

from setuptools import Distribution, find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
FOLDERS = ("engine", "grammar", "kernels", "schemas", "service")
PARTS = {"intaglio-embedded": "engine/embedded", "intaglio-compiled": "grammar/compiled"}


def located(requirement: str) -> str:
    """`requirement`, or a reference to the folder of this checkout that fulfils it."""
    name = requirement.partition("==")[0]
    folder = ROOT / PARTS.get(name, "")
    is_here = name in PARTS and (folder / "pyproject.toml").exists()
    return f"{name} @ {folder.as_uri()}" if is_here else requirement


class Checkout(Distribution):
    """The distribution with its other parts from this checkout."""

    def parse_config_files(self, *given: object, **named: object) -> None:
        super().parse_config_files(*given, **named)
        self.extras_require = {
            extra: list(map(located, requirements))
            for extra, requirements in self.extras_require.items()
        }
        self._finalize_requires()


class Modules(build_py):
    """Modules but for the scripts that build the other two distributions."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        found = super().find_package_modules(package, package_dir)
        return [module for module in found if module[1] != "setup"]


subpackages = [
    f"intaglio.{folder}.{name}"
    for folder in FOLDERS
    for name in find_packages(folder)
    if f"{folder}.{name}" != "service.face"
]
setup(
    packages=["intaglio", *(f"intaglio.{folder}" for folder in FOLDERS), *subpackages],
    distclass=Checkout,
    cmdclass={"build_py": Modules},
)
