"""Runs the Python blocks of a page one after the other, all in one namespace (`tests/support/snippets.py`).

Each line of the input is a block as JSON, each line of the output what it printed, with its traceback if it failed.
"""

import contextlib
import io
import json
import sys
import traceback
import warnings
from typing import Any


def main() -> None:
    """Run blocks until the input ends."""
    warnings.simplefilter("error", ResourceWarning)
    space: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        block = json.loads(line)
        output, failed = io.StringIO(), ""
        with contextlib.redirect_stdout(output):
            try:
                exec(compile(block["body"], block["place"], "exec"), space)
            except BaseException:  # noqa: BLE001 - the reader of the page gets it
                failed = traceback.format_exc()
        print(json.dumps([output.getvalue(), failed]), flush=True)


if __name__ == "__main__":
    main()
