"""The sections on masks, walks, budgets, differences and hostile inputs: many small questions, asked in children.

Does: choose what is asked, add the answers up, word the page. Does not: answer (`masks`, `walks`, `budgets`,
`differences`, `hostile`).
"""

import json
import lzma
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import fill
from typing import Any

from intaglio.grammar.api import Compiler, Constraint, ExaminationPool, GrammarError, Kind
from intaglio.grammar.backends.native import NativeGrammar

from tests.conformance import budgets, differences, hostile, masks, samples, walks, wording
from tests.conformance.children import Ended, Limits, spread
from tests.conformance.oracle import Tokens
from tests.conformance.report import Section, most_common, table
from tests.conformance.tokens import SIZE, shared

SEED = 20261
_LONG = Limits(cpu_s=240.0, wall_s=600.0, more_bytes=3 << 30)
_MINUTE = Limits(cpu_s=60.0, wall_s=300.0, more_bytes=3 << 30)
Records = list[dict[str, Any]]


@cache
def compiler() -> Compiler:
    """Of the report's vocabulary, warm."""
    spelling = shared()
    made = Compiler(spelling.vocabulary, spelling.spell)
    made.warm()
    # This grammar loads the back end for Earley items.
    made.compile(Constraint(Kind.EBNF, 'root ::= "a" root "a" | "b" root "b" | ""'))
    return made


def records(folder: Path) -> Records:
    """The open part of the benchmark, schemas without instances too."""
    with lzma.open(folder / "jsonschemabench" / "open.jsonl.xz", "rt") as lines:
        return [json.loads(line) for line in lines]


def mask_section(folder: Path, jobs: int, walks_each: int = 2, steps: int = 40) -> Section:
    """Masks against the oracle."""
    spelling, tokens, ours = shared(), Tokens(shared().vocabulary.tokens), compiler()

    def ask(named: tuple[str, Constraint]) -> masks.Compared | str:
        try:
            grammar = ours.compile(named[1])
        except GrammarError as error:
            return error.code
        if not isinstance(grammar, NativeGrammar):
            return "another back end"
        return masks.compare(grammar, spelling, tokens, named[0], walks_each, steps)

    made = Section("masks", "Masks, bit for bit")
    kinds: dict[str, Counter[str]] = {}
    for (name, _), reply in spread(ask, samples.grammars(folder), _MINUTE, jobs, renew=40):
        count = kinds.setdefault(name.split()[0], Counter())
        if isinstance(reply.answer, Ended):
            made.faults.append(f"{name}: {reply.answer}")
        elif isinstance(reply.answer, str):
            count[reply.answer] += 1
        else:
            count.update(grammars=1, pairs=reply.answer.pairs, states=reply.answer.states)
            made.faults += [f"{name}: {wrong}" for wrong in reply.answer.wrong]
    made.expected = {kind: dict(sorted(count.items())) for kind, count in kinds.items()}
    total: Counter[str] = sum(kinds.values(), Counter())
    made.page = [
        wording.MASKS.format(size=SIZE, walks=walks_each, steps=steps),
        table(
            ("grammars from", "compiled", "(grammar, prefix) pairs", "places followed to the end"),
            [
                [kind, c["grammars"], c["pairs"], c["states"]]
                for kind, c in (*kinds.items(), ("all", total))
            ],
        ),
        wording.MASKS_NOTE.format(faults=len(made.faults), others=total["another back end"]),
    ]
    return made


def walk_section(folder: Path, jobs: int, each: int = 20, sample: int = 1) -> Section:
    """Random legal outputs of every `sample`-th schema of the open part."""
    ours = compiler()

    def ask(record: dict[str, Any]) -> walks.Walked | str:
        source = json.dumps(record["schema"])
        try:
            grammar = ours.compile(Constraint(Kind.JSON_SCHEMA, source))
        except GrammarError as error:
            return error.code
        long = (grammar.least_tokens or 0) > walks.LONG
        return walks.walk(grammar, source, 1 if long else each, record["id"])

    made, count, refused = Section("walks", "Random walks"), Counter[str](), Counter[str]()
    stopped: dict[str, int] = {}
    for record, reply in spread(ask, records(folder)[::sample], _LONG, jobs):
        if isinstance(reply.answer, Ended):
            made.faults.append(f"{record['id']}: {reply.answer}")
            continue
        if isinstance(reply.answer, str):
            refused[reply.answer] += 1
            continue
        found = reply.answer
        count.update(schemas=1, walks=found.walks, tokens=found.tokens, unended=found.unended)
        count["doubts"] += len(found.doubts)
        if found.stopped:
            stopped[record["id"]] = found.stopped
        made.faults += [f"{record['id']} {fault}" for fault in found.faults]
        made.faults += [f"{record['id']}: {found.unended} without an end"] if found.unended else []
    valid = count["walks"] - count["unended"] - count["doubts"]
    made.expected = {"refused": dict(sorted(refused.items())), **dict(sorted(count.items()))}
    made.expected["stopped"] = dict(sorted(stopped.items()))
    made.page = [
        wording.WALKS.format(each=each, long=walks.LONG, which="every" if sample == 1 else f"each {sample}th"),
        table(
            ("schemas", "walks", "tokens", "valid", "not judged", "without an end", "faults"),
            [[f"{count['schemas']:,}", count["walks"], count["tokens"], valid - len(made.faults), count["doubts"],
              count["unended"], len(made.faults)]],
        ),
        wording.WALKS_NOTE.format(refused=dict(sorted(refused.items())), stopped=stopped or "none"),
    ]  # fmt: skip
    return made


def budget_section(folder: Path, jobs: int, schemas: int = 500) -> Section:
    """Every budget from the least on."""
    spelling, ours = shared(), compiler()
    chosen = random.Random(SEED).sample(records(folder), schemas + schemas // 10)

    def ask(record: dict[str, Any]) -> budgets.Completed:
        return budgets.complete(ours, spelling, record["id"], json.dumps(record["schema"]))

    made, count = Section("budgets", "Completion within every budget"), Counter[str]()
    for record, reply in spread(ask, chosen, _MINUTE, jobs):
        if count["schemas"] == schemas:
            break
        if isinstance(reply.answer, Ended):
            made.faults.append(f"{record['id']}: {reply.answer}")
            continue
        found = reply.answer
        if found.least is None and not found.faults:
            continue
        count.update(schemas=1, outputs=found.outputs, tight=found.tight, doubts=found.doubts)
        made.faults += [f"{record['id']} {fault}" for fault in found.faults]
    made.expected = dict(sorted(count.items()))
    made.page = [
        wording.BUDGETS.format(more=budgets.MORE),
        table(
            ("schemas", "outputs", "whole and valid", "that used all their budget", "not judged", "faults"),
            [[f"{count['schemas']:,}", count["outputs"], count["outputs"] - len(made.faults) - count["doubts"],
              count["tight"], count["doubts"], len(made.faults)]],
        ),
    ]  # fmt: skip
    return made


def difference_section(jobs: int, schemas: int = 1000) -> Section:
    """Made-up schemas through three readers."""

    def ask(number: int) -> differences.Differences:
        return differences.compare(random.Random(f"{SEED} {number}"))

    made = Section("differences", "Made-up schemas, three readers")
    rules, count = Counter[str](), Counter[str]()
    for number, reply in spread(ask, range(schemas), _MINUTE, jobs):
        if isinstance(reply.answer, Ended):
            made.faults.append(f"schema {number}: {reply.answer}")
            continue
        rules.update(reply.answer.rules)
        count.update(values=reply.answer.compared, valid=reply.answer.valid)
        made.faults += [f"schema {number}: {wrong}" for wrong in reply.answer.wrong]
    own = {rule: n for rule, n in sorted(rules.items()) if not rule.startswith("llguidance")}
    made.expected = {"schemas": schemas, **dict(sorted(count.items())), "rules": own}
    made.measured = {rule: n for rule, n in sorted(rules.items()) if rule not in own}
    made.page = [
        wording.DIFFERENCES.format(
            schemas=schemas, values=count["values"], valid=count["valid"], faults=len(made.faults)
        ),
        table(("rule", "times"), most_common(rules)),
    ]
    return made


def hostile_section(folder: Path, jobs: int) -> Section:
    """The hostile corpus, in this process's children and in the workers that the service uses."""
    spelling, ours = shared(), compiler()
    cases = list(hostile.cases(folder))
    text = [case for case in cases if case.source is not None]

    def ask(case: hostile.Case) -> hostile.Finding:
        return hostile.judge(ours, spelling, case)

    made = Section("hostile", "Hostile inputs")
    answers: dict[str, str] = {}
    worst: list[tuple[float, int, str]] = []
    for case, reply in spread(ask, text, hostile.LIMITS, jobs, renew=1):
        if isinstance(reply.answer, Ended):
            made.faults.append(f"{case.name}: {reply.answer} ({reply.cpu_s:.1f} s)")
            continue
        answers[case.name] = reply.answer.answer
        worst.append((reply.cpu_s, reply.grown, case.name))
        if reply.answer.wrong:
            made.faults.append(f"{case.name}: {reply.answer.wrong}")
    isolated = ExaminationPool(spelling.vocabulary)
    seconds = []
    try:
        isolated.start()  # as the service does: the first case would wait until the compiler is loaded
        for case in text:
            finding, spent = hostile.in_worker(isolated, case)
            seconds.append((spent, case.name))
            if finding.wrong:
                made.faults.append(f"{case.name}, in a worker: {finding.wrong}")
    finally:
        isolated.close()
    made.expected = {"cases": len(cases), "answers": dict(sorted(answers.items()))}
    made.measured = {
        "slowest": [f"{name}: {cpu:.2f} s" for cpu, _, name in sorted(worst)[-5:]],
        "largest": [
            f"{name}: {b >> 20} MiB" for _, b, name in sorted(worst, key=lambda w: w[1])[-5:]
        ],
        "slowest in a worker": [f"{name}: {s:.2f} s" for s, name in sorted(seconds)[-5:]],
    }
    wrong = len({fault.split(":")[0].split(",")[0] for fault in made.faults})
    made.page = [
        wording.HOSTILE,
        table(("", "cases"), [*Counter(answers.values()).items(),
              ("not UTF-8, refused at examination", len(cases) - len(text)),
              ("right", len(cases) - wrong), ("all", len(cases))]),
        *("\n" + fill(f"{title} (measured): {', '.join(figures)}.", 120, break_on_hyphens=False)
          for title, figures in made.measured.items()),
    ]  # fmt: skip
    return made


SECTIONS: dict[str, Callable[[Path, int], Section]] = {
    "masks": mask_section,
    "walks": walk_section,
    "budgets": budget_section,
    "differences": lambda _, jobs: difference_section(jobs),
    "hostile": hostile_section,
}
