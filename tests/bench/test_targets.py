"""The table of targets shows the measured values, and marks targets without a measurement."""

import sys
from pathlib import Path
from typing import Any

from tests.bench.bench_gpu import Part, run, targets


def extract(ms: float) -> dict[str, Any]:
    kinds, counts = ("free", "schema", "different"), (1, 64, 256, 512)
    step = {"floor_ms": 0.9, "token_ms": ms, "step_ms": ms}
    return {
        "figures": {
            "start_s": 7.0,
            "decode": {f"{kind}-{count}": step for kind in kinds for count in counts},
            "idle": {"schema-64": {"idle": 0.05}},
            "workload": {"schema-cold": {"requests_per_s": 90.0, "valid": 512}},
        }
    }


def test_every_promise_is_judged() -> None:
    found = {
        "extract-8b": extract(1.0),
        "pick": {
            "figures": {
                "rows": [
                    {"dtype": "bf16", "batch": 256, "mask": "half", "kind": "draw", "ratio": 1.5}
                ]
            }
        },
        "walk": {
            "figures": {"rows": [{"places": "any place", "batch": 256, "us_a_sequence": 0.01}]}
        },
        "tests-kernels": {"status": 0},
        "masks": {"figures": {"counts": {"masks": 5, "differences": 2, "schemas covered": 6888}}},
    }
    verdicts = {target.what: target.verdict for target in targets(found)}
    assert verdicts["8b: share of the floor, constrained, batch 1"] == "met"
    assert verdicts["8b: different / free, batch 512"] == "met"
    assert verdicts["8b: GPU idle, schema-64"] == "missed"
    assert verdicts["8b: requests/s, schema-cold"] == "met"
    assert verdicts["8b: valid outputs, schema-warm"] == "not measured"
    assert verdicts["8b: seconds to ready, extract-8b"] == "met"
    assert verdicts["0.6b: share of the floor, constrained, batch 64"] == "not measured"
    assert verdicts["pick: bf16, draw, times the floor"] == "missed"
    assert verdicts["walk: us a sequence at batch 256"] == "met"
    assert verdicts["walk: share of the 8b step at batch 256"] == "met"
    assert verdicts["tests-kernels: exit status"] == "met"
    assert verdicts["masks of host and device that differ"] == "missed"
    assert verdicts["masks: schemas covered, each in both forms"] == "missed"


def test_nothing_measured_is_nothing_met() -> None:
    assert {target.verdict for target in targets({})} == {"not measured"}


def test_what_a_checker_found_is_kept(tmp_path: Path) -> None:
    said = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)"
    program = f"print({said!r}); print('10 passed'); raise SystemExit(1)"
    found = run(Part("racecheck", (sys.executable, "-c", program), 60), tmp_path, left=60)
    assert (found["status"], found["summaries"]) == (1, [said])
    silent = run(Part("tests", (sys.executable, "-c", "print('10 passed')"), 60), tmp_path, left=60)
    assert (silent["status"], "summaries" in silent) == (0, False)
