"""The page of model families, from their data and from the configurations that tests compare with `transformers`."""

from intaglio.engine.api import supported_families

from tests.support import tiny_families, tiny_vision

from .markdown import HEADER, table

INTRO = """# Supported models

Find the family of a model by the entry `architectures` of its `config.json`. `intaglio models list` prints this table
for an installed version, `intaglio models check FOLDER` says whether a checkpoint would load, and how much memory it
takes at which context. How to choose, download and load one: [Models](../models.md).

Each family is compared with `transformers` on small random checkpoints: logits and greedy tokens in float32, whole, in
chunks and after preemption, and logits in bfloat16. The last column lists the compared checkpoints and the test.

A mixture of experts that is quantised runs on a CPU only, unless it is gpt-oss, and so does DeepSeek. On a GPU,
`tests/gpu/test_families.py` compares tokens with those of the CPU for the families with sliding windows, partial
rotations, multipliers, sinks or experts. Models that read images have not run on a GPU yet.

"""

TESTS = {
    "tests/engine/run/test_parity.py": tiny_families.OLDEST,
    "tests/engine/run/test_families.py": tiny_families.CONFIGS,
    "tests/engine/run/test_image_rows.py": tiny_vision.CONFIGS,
}


def page() -> str:
    rows = [
        (
            f"`{family.architecture}`",
            family.examples,
            "CPU" if family.cpu_only else "CPU, GPU",
            "; ".join(compared(family.architecture)),
        )
        for family in supported_families()
    ]
    return HEADER + INTRO + table(("architecture", "models", "devices", "compared"), rows)


def compared(architecture: str) -> list[str]:
    """The compared checkpoints of an architecture, by test."""
    found = []
    for test, configs in TESTS.items():
        names = [
            f"`{name}`"
            for name, config in configs.items()
            if config["architectures"] == [architecture]
        ]
        if names:
            found.append(f"{', '.join(names)} in `{test}`")
    return found
