"""Kernels compile to the machine code of a GPU, which the interpreter cannot show. No GPU is needed."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_kernels_compile_for_a_gpu() -> None:
    """Every kernel of five parts, in its largest variants: `make conformance` compiles all variants of all parts."""
    samples = [f"sample-of-{name}" for name in ("experts", "attention", "deterministic")]
    parts = ["walks", "drafts", *samples]
    command = [sys.executable, "-m", "tests.support.compiled", *parts]
    variables = {
        k: v for k, v in os.environ.items() if k not in ("TRITON_INTERPRET", "PYTHONSAFEPATH")
    }
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for kernel in (
        "walk_pass",
        "stack_pass",
        "advance_pass",
        "replay_pass",
        "_verify",
        "_route",
        "_combine",
        "_scanned_experts",
        "_sorted_experts",
        "_decode",
        "_lone",
        "_packed",
        "_tiles",
        "_rope_and_store",
        "_fixed_order",
    ):
        assert f"'{kernel}'" in done.stdout
