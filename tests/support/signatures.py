"""Writes down for which types Python calls the compiled loops: `grammar/automata/signatures.json`.

    python -m tests.support.signatures                      after `intaglio doctor` and the catalogue
    pytest -p tests.support.signatures tests/grammar ...     adds what these tests call

What is listed is compiled when the package `intaglio-compiled` is built; what is not, at its first call.
"""

import fcntl
import json
from typing import Any

from intaglio.grammar.jit.ahead_of_time import SIGNATURES, spelled
from intaglio.grammar.jit.machine_code import MachineCode
from numba.core.dispatcher import Dispatcher

_called: dict[tuple[str, str], Any] = {}


def record() -> None:
    """Record every combination of types with which Python calls a compiled loop, from now on."""
    dispatcher: Any = Dispatcher  # numba publishes no types of what compiles at a call
    ask = dispatcher._compile_for_args

    def listen(self: Any, *args: Any, **kws: Any) -> Any:
        before = set(self.overloads)
        answer = ask(self, *args, **kws)
        if isinstance(self._cache, MachineCode):
            name = f"{self.py_func.__module__}:{self.py_func.__qualname__}"
            for types in set(self.overloads) - before:
                _called[name, str(types)] = [spelled(each) for each in types]
        return answer

    dispatcher._compile_for_args = listen


def called() -> dict[str, list[Any]]:
    """Types by loop, of every call since `record`."""
    found: dict[str, list[Any]] = {}
    for (name, _), types in _called.items():
        found.setdefault(name, []).append(types)
    return found


def save() -> None:
    """Add what was called to the file."""
    with SIGNATURES.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        known = json.loads(file.read() or "{}")
        for name, signatures in called().items():
            already = known.setdefault(name, [])
            already += [types for types in signatures if types not in already]
        lines = [
            f"{json.dumps(name)}: [\n  " + ",\n  ".join(map(json.dumps, known[name])) + "\n ]"
            for name in sorted(known)
        ]
        file.truncate(0)
        file.write("{\n " + ",\n ".join(lines) + "\n}\n")


def pytest_configure() -> None:
    record()


def pytest_unconfigure() -> None:
    save()


if __name__ == "__main__":
    from intaglio.service.cli.doctor import run

    record()
    run(None, as_json=True)
    save()
