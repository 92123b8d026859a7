"""List the sub-packages of the five folders, which `package-dir` alone does not (see pyproject.toml)."""

from setuptools import find_packages, setup

FOLDERS = ("engine", "grammar", "kernels", "schemas", "service")
subpackages = [
    f"intaglio.{folder}.{name}"
    for folder in FOLDERS
    for name in find_packages(folder)
    if f"{folder}.{name}" != "service.face"
]
setup(packages=["intaglio", *(f"intaglio.{folder}" for folder in FOLDERS), *subpackages])
