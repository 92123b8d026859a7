"""The model from nothing, by the commands of the example's README: corpus, tokenizer, training, export, figures."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from examples.train_embedded.real.records import read
from tests.support.snippets import Block, Python

ROOT = Path(__file__).resolve().parents[2]
SOUP = """---
title: "Lentil Soup No. {number}"
tags: ['soup', 'vegan']
---

- Prep time: 25 min
- Servings: {number}

## Ingredients

- {number} cups red lentils
- 1 onion
- 1 tsp salt

## Directions

1. Wash the lentils and let them drip off in a sieve for as long as it takes to cut the onion into small pieces.
2. Put everything into a large pot with a litre and a half of water, and cook it over a low flame until it is soft.
3. Take the pot off the stove, add salt and lemon juice to your own taste, and eat it while it is still warm and fresh.
"""


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """A clone of one source of the manifest, with a few recipes, one of which an evaluation document quotes."""
    folder = tmp_path / "clones" / "ronaldl29__public-domain-recipes"
    (folder / "content").mkdir(parents=True)
    for number in range(2, 8):
        (folder / "content" / f"soup-{number}.md").write_text(SOUP.format(number=number))
    quoted = "Bake the seven small loaves on the second shelf until they sound hollow.\n"
    (folder / "content" / "bread.md").write_text(SOUP.format(number=9) + quoted)
    git = ("git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "m")):
        subprocess.run([*git, *command], check=True)
    (tmp_path / "apart.jsonl").write_text(json.dumps({"text": quoted}) + "\n")
    return folder.parent


RUN = """
import runpy, sys
if {folder!r} not in sys.path:
    sys.path.append({folder!r})
sys.argv[1:] = {arguments!r}
try:
    runpy.run_module({module!r}, run_name="__main__", alter_sys=True)
except SystemExit as end:
    if end.code:
        raise
"""
Command = Callable[..., str]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[Command]:
    """Runs commands of the README, one after the other in a process that loads torch once; what they print."""
    process = Python(tmp_path, {**os.environ, "INTAGLIO_ENGINE_THREADS": "1"})

    def run(module: str, *arguments: object) -> str:
        program = RUN.format(
            folder=str(ROOT / "examples"),
            module=f"train_embedded.{module}",
            arguments=[*map(str, arguments)],
        )
        block = Block(Path(module), module, "python", None, None, program, 0, 0)
        printed, failed = process.run(block)
        assert not failed, failed
        return printed

    yield run
    process.close()


@pytest.mark.timeout(900)
def test_a_model_comes_from_a_corpus_and_is_measured(
    clones: Path, tmp_path: Path, command: Command
) -> None:
    real, model, run = tmp_path / "real", tmp_path / "model", tmp_path / "run"
    command("real.build", "--clones", clones, "--out", real, "--apart", tmp_path / "apart.jsonl")
    (row,) = json.loads((real / "manifest.json").read_text())["sources"]
    assert row["records"] == 7
    kept = list(read(real / "records.jsonl.xz"))
    assert len(kept) == 6
    assert not any("hollow" in record.text for record in kept)
    command("tokenizer", "--out", model, "--samples", 50)
    shape = ("--hidden", 128, "--layers", 1, "--gate", 64, "--device", "cpu")
    size = ("--minutes", 0.01, "--workers", 1, "--tokens", 1024)
    mix = ("--prose-until", 0, "--masked", 0.5)
    learnt = command(
        "train",
        "--tokenizer",
        model / "tokenizer.json",
        "--real",
        real,
        "--out",
        run,
        *shape,
        *size,
        *mix,
    )
    assert "done: " in learnt
    assert "documents masked, 0 not legal" in learnt
    for file in (run / "last").iterdir():
        file.rename(model / file.name)
    command("seal", model)
    command("card", "--model", model, "--out", tmp_path / "card", "--made", 2)
    for way in ("locate", "verbatim"):
        lines = (tmp_path / "card" / f"synthetic.{way}.jsonl").read_text().splitlines()
        assert len(lines) == 2
        assert all("data" in json.loads(line) for line in lines)
    figures = (tmp_path / "card" / "tables.md").read_text()
    assert "| synthetic | enforced | 2 |" in figures
    assert "| synthetic | free | 2 |" in figures
