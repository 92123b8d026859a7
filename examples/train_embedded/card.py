"""Measure all figures of the model's card, and write its tables.

    python -m train_embedded.card --model engine/embedded --out build/card --sets ../shared/data

`--sets` holds `extraction-eval/dev.jsonl` and `real-docs/dev.jsonl`; sets that are not there are left out, the held-out
synthetic documents are always made. Each set is answered in three ways: with the schema enforced (`locate`: the answers are
those of grounding off, with the source of each value beside), with strings held to the document's words (`verbatim`), and
by the model alone (`free`). Answers are appended to `OUT/SET.WAY.jsonl` as they come: the same command after an
interruption goes on, and `--limit` takes the first documents of each kind only. `--tables` writes the tables of the answers
that are there and runs no model.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .evaluate import Answers, Case, Line, constrained, free, from_file, score, synthetic
from .scoring import Score, Tally, leaves, share

FILES = {"written": "extraction-eval/dev.jsonl", "real": "real-docs/dev.jsonl"}
WAYS: dict[str, Callable[[Path], Answers]] = {
    "locate": lambda model: constrained(model, "locate"),
    "verbatim": lambda model: constrained(model, "verbatim"),
    "free": free,
}
TITLES = {"locate": "enforced", "verbatim": "verbatim", "free": "free"}


@dataclass(frozen=True)
class Answered:
    """The answers to a set's documents in one way; `cases` are those that were answered or refused."""

    name: str
    way: str
    cases: list[Case]
    lines: list[Line]

    @property
    def score(self) -> Score:
        return score(self.cases, self.lines)

    def among(self, ids: set[str]) -> Answered:
        return Answered(self.name, self.way, [case for case in self.cases if case.id in ids], self.lines)

    @property
    def located(self) -> tuple[int, int]:
        """Of the strings and numbers with a report, those that the document states in some form, and all."""
        found = [
            report["match"] != "none"
            for line in self.lines
            for path, value in leaves(line.get("data"))
            if isinstance(value, str | int | float) and not isinstance(value, bool)
            if (report := (line.get("fields") or {}).get(path)) is not None
        ]
        return sum(found), len(found)


def sets(folder: Path | None, made: int, limit: int | None) -> dict[str, list[Case]]:
    """The documents of each set; with `limit`, the first of each kind."""
    found = {"synthetic": synthetic(made)}
    files = {} if folder is None else {name: folder / file for name, file in FILES.items()}
    for name, path in files.items():
        if path.exists():
            found[name] = from_file(path)
        else:
            print(f"{path} is not there: left out")
    return {name: cases if limit is None else _first(cases, limit) for name, cases in found.items()}


def _first(cases: Iterable[Case], limit: int) -> list[Case]:
    taken: dict[str, list[Case]] = {}
    for case in cases:
        if len(kind := taken.setdefault(case.kind, [])) < limit:
            kind.append(case)
    return [case for kind in taken.values() for case in kind]


def read(file: Path) -> list[Line]:
    """The answers of a file; a line that an end of any sort cut short is none."""
    lines = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
    return [json.loads(line) for line in lines]


def answer(file: Path, cases: Sequence[Case], answers: Answers) -> None:
    """Append the answers that `file` lacks."""
    known = read(file)
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in known), encoding="utf-8")
    ids = {line["id"] for line in known}
    todo = [case for case in cases if case.id not in ids]
    if not todo:
        return
    with file.open("a", encoding="utf-8") as out:
        for done, line in enumerate(answers(todo), 1):
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            out.flush()
            print(f"\r{file.name}: {done} of {len(todo)}", end="", flush=True)
    print()


def tables(found: Sequence[Answered]) -> str:
    """All figures as Markdown: one line a set and way, then the kinds of each set of a file in all ways."""
    parts = [
        "| set | way | documents | leaves right | mean over kinds | blank | whole | valid | strings in the text | no answer |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
        *(_line(each) for each in found),
    ]
    parts += [
        f"\nOf the strings and numbers given for `{each.name}`, {_percent(*each.located)} were located in the document."
        for each in found
        if each.way == "locate" and each.located[1]
    ]
    for name in dict.fromkeys(each.name for each in found if each.name in FILES):
        parts += ["", *_kinds([each for each in found if each.name == name])]
    return "\n".join(parts) + "\n"


def _line(each: Answered) -> str:
    total = each.score.total
    cells = (
        each.name, TITLES[each.way], str(total.documents), f"{_right(total)} ({total.right} of {total.leaves})",
        f"{100 * each.score.macro:.1f} %", _percent(total.blank, total.leaves), _percent(total.whole, total.documents),
        _percent(total.valid, total.answered), _percent(total.stated, total.strings), str(total.documents - total.answered),
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _kinds(ways: Sequence[Answered]) -> list[str]:
    """The kinds of a set, over the documents that all ways have."""
    common = set.intersection(*({case.id for case in each.cases} for each in ways))
    scores = [each.among(common).score for each in ways]
    names = sorted(scores[0].kinds)
    head = [ways[0].name, "documents", "blank", *(TITLES[each.way] for each in ways)]
    rows = [
        [
            name,
            str((first := scores[0].kinds[name]).documents),
            _percent(first.blank, first.leaves),
            *(_right(each.kinds[name]) for each in scores),
        ]
        for name in names
    ]
    return [f"| {' | '.join(head)} |", f"|---{'|--:' * (len(head) - 1)}|", *(f"| {' | '.join(row)} |" for row in rows)]


def _right(tally: Tally) -> str:
    return _percent(tally.right, tally.leaves)


def _percent(part: int, whole: int) -> str:
    return f"{100 * share(part, whole):.1f} %" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the figures of the model's card.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", type=Path, help="folder with the sets of documents")
    parser.add_argument("--only", nargs="*", metavar="SET.WAY", help="these files of answers only, such as real.locate")
    parser.add_argument("--made", type=int, default=500, help="number of held-out synthetic documents")
    parser.add_argument("--limit", type=int, help="only this many documents of each kind")
    parser.add_argument("--tables", action="store_true", help="write the tables of the answers that are there")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    found = []
    for name, cases in sets(chosen.sets, chosen.made, chosen.limit).items():
        for way, answers_of in WAYS.items():
            if chosen.only and f"{name}.{way}" not in chosen.only:
                continue
            file = chosen.out / f"{name}.{way}.jsonl"
            if not chosen.tables:
                answer(file, cases, answers_of(chosen.model))
            lines = read(file)
            ids = {line["id"] for line in lines}
            if answered := [case for case in cases if case.id in ids]:
                found.append(Answered(name, way, answered, lines))
    written = tables(found)
    (chosen.out / "tables.md").write_text(written, encoding="utf-8")
    print(written)


if __name__ == "__main__":
    main()
