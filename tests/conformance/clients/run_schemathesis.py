"""Send random requests made from the OpenAPI document; write the counts to `schemathesis.json`.

    python -m tests.conformance.clients.run_schemathesis --work /tmp/clients [--examples 55]

Each request that gets status 5xx, or one that the document does not name, is a failure. Every second one names the
loaded model and things that the server keeps (`schemathesis_hooks`), so that it is not just refused with 404.
"""

import argparse
import json
import os
import re
import subprocess
from pathlib import Path

import httpx2
from intaglio.service.http.interface import OPERATIONS

from tests.conformance.clients.run import environment, server
from tests.conformance.clients.suites import HERE, Suite
from tests.support.owned_objects import OwnedObjects

FUZZER = Suite(name="schemathesis", installs=("schemathesis==4.32.5",))
HOOKS = HERE / "installed" / "schemathesis_hooks.py"
RESULT = HERE / "schemathesis.json"
_SUMMARY = re.compile(r"(\d+) generated, (\d+) passed")


def names(objects: OwnedObjects) -> dict[str, tuple[str, ...]]:
    """The names of things that are there, by the path that may name them."""
    named = {operation.path: objects.in_path(operation.path) for operation in OPERATIONS}
    return {
        "/v1/models/{model}": (FUZZER.model,),
        **{path: found for path, found in named.items() if found},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for environments")
    parser.add_argument("--examples", type=int, default=55, help="requests for each operation")
    given = parser.parse_args()
    home = given.work.absolute() / FUZZER.name
    home.mkdir(parents=True, exist_ok=True)
    program = environment(FUZZER, home).with_name("schemathesis")
    with server(FUZZER, home) as url:
        hooked = {"SCHEMATHESIS_HOOKS": str(HOOKS), "CLIENTS_MODEL": FUZZER.model}
        with httpx2.Client(base_url=url, timeout=60) as http:
            hooked["CLIENTS_NAMES"] = json.dumps(names(OwnedObjects.make(http, FUZZER.model)))
        done = subprocess.run(
            [
                *(str(program), "run", f"{url}/openapi.json", "--phases", "fuzzing", "--seed", "1"),
                *("--checks", "not_a_server_error,status_code_conformance"),
                *("--max-examples", str(given.examples), "--request-timeout", "30"),
            ],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **hooked},
        )
    print(done.stdout)
    found = _SUMMARY.search(done.stdout)
    if found is None:
        return 1
    generated, passed = map(int, found.groups())
    name, _, version = FUZZER.installs[0].partition("==")
    result = {"versions": {name: version}, "generated": generated, "passed": passed}
    RESULT.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
