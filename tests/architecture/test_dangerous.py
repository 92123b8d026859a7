"""Calls that turned into advisories elsewhere are absent, or are named here with the reason why they are safe."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import Module, modules

UNPICKLERS = frozenset({"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"})
CALLS = frozenset(
    {
        *(
            "eval",
            "exec",
            "compile",
            "os.system",
            "os.popen",
            "torch.load",
            "numpy.load",
            "np.load",
        ),
        *("yaml.load", "yaml.unsafe_load", "tempfile.mktemp", "jinja2.Environment", "Environment"),
        *("jinja2.Template", "ssl._create_unverified_context", "jsonschema.validate"),
    }
)
_DRAFT = re.compile(r"Draft\w+Validator")
SECRETS = frozenset({"secret", "password", "api_key", "authorization", "digest_given", "mac"})

# (path, what) -> reason. Every entry must still be needed.
SAFE: dict[tuple[str, str], str] = {
    (
        "grammar/jit/machine_code.py",
        "pickle",
    ): "machine code of our own build, in a folder of this user; a digest is compared before it is read",
    (
        "service/evaluation/eval_page.py",
        "Environment",
    ): "the template is a file of the package, escapes everything, and gets no text of a client as template",
    (
        "service/jobs/report.py",
        "Environment",
    ): "the template is a file of the package, escapes everything, and gets no text of a client as template",
}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def dangers(module: Module) -> Iterator[str]:
    """What a module should not have, by name."""
    for node in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            yield from UNPICKLERS.intersection(name.partition(".")[0] for name in names)
        elif isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.Compare):
            yield from _of_comparison(node)
        elif isinstance(node, ast.ExceptHandler) and module.name.startswith(
            "intaglio.service.http"
        ):
            yield from _of_handler(node)


def _of_call(node: ast.Call) -> Iterator[str]:
    name = dotted(node.func)
    given = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in CALLS:
        yield name
    for option, value in (("shell", True), ("verify", False)):
        if _is_constant(given.get(option), value):
            yield f"{option}={value}"
    if _DRAFT.fullmatch(name.rpartition(".")[2]) and "registry" not in given:
        yield "a validator that may fetch references"


def _of_comparison(node: ast.Compare) -> Iterator[str]:
    """Comparisons whose time tells how much of a secret was right."""
    if any(isinstance(operator, ast.Eq | ast.NotEq) for operator in node.ops):
        for side in (node.left, *node.comparators):
            if dotted(side).rpartition(".")[2] in SECRETS:
                yield f"== on {dotted(side)}"


def _of_handler(node: ast.ExceptHandler) -> Iterator[str]:
    """Exceptions that become text, which may name paths, addresses or content."""
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and dotted(child.func) in ("str", "repr"):
            values = child.args
        elif isinstance(child, ast.FormattedValue):
            values = [child.value]
        else:
            continue
        if node.name and any(isinstance(v, ast.Name) and v.id == node.name for v in values):
            yield "the text of an exception"


def _is_constant(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def test_nothing_dangerous_is_called() -> None:
    found = {(m.path.as_posix(), danger) for m in modules() for danger in dangers(m)}
    assert sorted(found - SAFE.keys()) == []
    assert sorted(SAFE.keys() - found) == [], "a reason that is no longer needed"


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from marshal import loads",
        "x = torch.load(path)",
        "yaml.load(text)",
        "eval(text)",
        "exec(text)",
        "subprocess.run(text, shell=True)",
        "httpx.get(url, verify=False)",
        "Environment()",
        "Draft202012Validator(schema)",
        "if given == self.secret: ...",
        "try:\n    f()\nexcept OSError as error:\n    raise Refused(str(error))",
        "try:\n    f()\nexcept OSError as error:\n    raise Refused(f'no: {error}')",
    ],
)
def test_a_planted_danger_is_found(source: str) -> None:
    path = Path("service/http/planted.py")
    assert list(dangers(Module("intaglio.service.http.planted", path, source, ast.parse(source))))
