"""Sizes and habits that are checks, not wishes. An exception is a line here, with its reason."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.source import Module, modules

FILE_LINES = 400
FUNCTION_LINES = 60
PARAMETERS = 8
METHODS = 15
ATTRIBUTES = 12

# (path, kind, name) -> reason. Every entry must still be needed.
EXCEPTIONS: dict[tuple[str, str, str], str] = {
    (
        "grammar/automata/dfa.py",
        "methods",
        "Dfa",
    ): "fourteen questions, and the charge for its table",
    (
        "service/cli/commands.py",
        "parameters",
        "extract",
    ): "the options of a command are its parameters",
    (
        "service/cli/commands.py",
        "parameters",
        "serve",
    ): "the options of a command are its parameters",
    (
        "service/cli/measure_commands.py",
        "parameters",
        "bench",
    ): "the options of a command are its parameters",
    (
        "service/cli/measure_commands.py",
        "parameters",
        "roofline",
    ): "the options of a command are its parameters",
    (
        "service/cli/measure_commands.py",
        "function lines",
        "bench",
    ): "two lines an option: one that declares it, one that hands it on",
    (
        "service/cli/commands.py",
        "function lines",
        "extract",
    ): "two lines an option: one that declares it, one that hands it on",
    (
        "service/cli/commands.py",
        "function lines",
        "serve",
    ): "two lines an option: one that declares it, one that hands it on",
    (
        "service/cli/evaluation_commands.py",
        "parameters",
        "evaluate",
    ): "the options of a command are its parameters",
    (
        "service/cli/evaluation_commands.py",
        "function lines",
        "evaluate",
    ): "two lines an option: one that declares it, one that hands it on",
    (
        "service/cli/job_commands.py",
        "parameters",
        "run",
    ): "the options of a command are its parameters",
    (
        "service/cli/job_commands.py",
        "function lines",
        "run",
    ): "two lines an option: one that declares it, one that hands it on",
    (
        "kernels/sample/logits_pass.py",
        "function lines",
        "tile_pass",
    ): "what a loop of a kernel carries lives in registers: a helper for its body would take and return twenty values",
}

MAY_READ_ENVIRONMENT = {"engine/config.py", "service/config.py", "service/client/config.py"}
WRITTEN_BY_A_TOOL = {f"service/client/{name}.py" for name in ("_sync", "_sync_jobs", "_sync_wire")}

Breach = tuple[str, str, str]


def long_functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            docstring = (
                (first.end_lineno or first.lineno) - first.lineno + 1
                if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                else 0
            )
            triton = any("jit" in ast.unparse(decorator) for decorator in node.decorator_list)
            # A kernel has no objects to pass: its parameters are many, a line each, and do not count.
            begin = first.lineno if triton else node.lineno
            if (node.end_lineno or node.lineno) - begin + 1 - docstring > FUNCTION_LINES:
                yield "function lines", node.name
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            named = [a for a in arguments if a.arg not in ("self", "cls")]
            if len(named) > PARAMETERS and not triton:
                yield "parameters", node.name


def large_classes(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if not isinstance(node, ast.ClassDef):
            continue
        methods = [
            n
            for n in node.body
            if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
            and not any(isinstance(d, ast.Name) and d.id == "overload" for d in n.decorator_list)
        ]
        if len(methods) > METHODS:
            yield "methods", node.name
        attributes = {
            target.attr
            for child in ast.walk(node)
            if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store)
            for target in [child]
            if isinstance(target.value, ast.Name) and target.value.id == "self"
        }
        if len(attributes) > ATTRIBUTES:
            yield "attributes", node.name


def bad_habits(nodes: Iterable[ast.AST], path: str) -> Iterator[tuple[str, str]]:
    for node in nodes:
        where = f"line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Global):
            yield "global", where
        elif isinstance(node, ast.Assert) and any(
            isinstance(child, ast.Call) and not _is_plain_question(child)
            for child in ast.walk(node.test)
        ):
            yield "call inside assert", where
        elif isinstance(node, ast.ExceptHandler) and _is_broad(node) and not _raises(node):
            yield "broad except", where
        elif (
            isinstance(node, ast.Attribute)
            and node.attr in ("environ", "getenv")
            and path not in MAY_READ_ENVIRONMENT
        ):
            yield "environment", where


def _is_plain_question(call: ast.Call) -> bool:
    """`isinstance(…)` and `len(…)` have no effect, so an assert may ask them."""
    return isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "len", "all", "any")


def _is_broad(handler: ast.ExceptHandler) -> bool:
    names = {ast.unparse(handler.type)} if handler.type else {"bare"}
    return bool(names & {"bare", "Exception", "BaseException"})


def _raises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(node, ast.Raise) for node in ast.walk(handler))


def breaches(module: Module) -> list[Breach]:
    """Every budget that `module` overdraws."""
    path = module.path.as_posix()
    found: list[Breach] = []
    if len(module.text.splitlines()) > FILE_LINES and path not in WRITTEN_BY_A_TOOL:
        found.append((path, "file lines", module.path.name))
    for kind, name in [
        *long_functions(module.nodes),
        *large_classes(module.nodes),
        *bad_habits(module.nodes, path),
    ]:
        found.append((path, kind, name))
    return found


def test_every_module_keeps_its_budget() -> None:
    found = {breach for module in modules() for breach in breaches(module)}
    assert sorted(found - EXCEPTIONS.keys()) == []
    assert sorted(EXCEPTIONS.keys() - found) == [], "an exception that is no longer needed"


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "common", "helpers", "misc", "helper"}
    assert [str(m.path) for m in modules() if m.path.stem in drawers] == []


def test_no_feature_flag_names_the_phases_of_generation() -> None:
    """One rule for all progress: the scheduler knows neither prefill nor decode."""
    scheduling = [m for m in modules() if m.name.startswith("intaglio.engine.schedule")]
    assert [
        str(m.path) for m in scheduling if "is_prefill" in m.text or "is_decode" in m.text
    ] == []


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("file lines", "x = 1\n" * 401),
        ("function lines", "def f():\n" + "    x = 1\n" * 61),
        ("parameters", "def f(a, b, c, d, e, f, g, h, i): ..."),
        ("methods", "class C:\n" + "".join(f"    def m{i}(self): ...\n" for i in range(16))),
        (
            "attributes",
            "class C:\n    def f(self):\n" + "".join(f"        self.a{i} = 1\n" for i in range(13)),
        ),
        ("global", "def f():\n    global x\n    x = 1"),
        ("call inside assert", "assert matcher.accept(3)"),
        ("broad except", "try:\n    f()\nexcept Exception:\n    pass"),
        ("environment", "import os\nx = os.environ['A']"),
    ],
)
def test_a_planted_breach_is_reported(kind: str, source: str) -> None:
    module = Module("intaglio.engine.planted", Path("engine/planted.py"), source, ast.parse(source))
    assert kind in {breach[1] for breach in breaches(module)}
