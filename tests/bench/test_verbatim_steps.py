"""The benchmark of verbatim strings on a GPU: what counts as inside a string, its documents, and its rows."""

import json
from pathlib import Path

from tests.bench.bench_verbatim_gpu import Place, Steps, documents, figure, schema, share_inside

PIECES = ('[{"name":"', "a", '\\"', 'b"', ',"quote":"', "c", '","page":', "7")


def steps(before: tuple[int, ...], tokens: tuple[int, ...], *seconds: float) -> Steps:
    return Steps(seconds, (before,), (tokens,), {"mask": 0.25})


def test_tokens_count_as_inside_if_they_begin_within_a_value() -> None:
    place, seen = Place(), []
    for piece in PIECES:
        seen.append(place.in_value)
        place.read(piece)
    assert seen == [False, True, True, True, False, True, True, False]


def test_the_share_counts_the_timed_tokens_only() -> None:
    assert share_inside([steps((0,), (1, 2, 3, 4), 1.0)], PIECES) == 0.75


def test_a_row_has_times_of_steps_and_of_tokens() -> None:
    found = figure("verbatim", [steps((), (1, 2), 0.001, 0.003, 0.008)], 0.5)
    assert (found.steps, found.median_ms, found.p99_ms, found.mean_ms) == (3, 3.0, 8.0, 4.0)
    assert (found.token_ms, found.parts_ms) == (6.0, {"mask": 250.0 / 3})


def test_every_sequence_has_a_document_of_its_own(tmp_path: Path) -> None:
    assert len({*documents(tmp_path, 5, 300)}) == 5
    (tmp_path / "real-docs").mkdir()
    texts = [f"{word} " * 40 for word in ("one", "two", "three", "four", "five", "six")]
    lines = "\n".join(json.dumps({"text": text}) for text in texts)
    (tmp_path / "real-docs/dev.jsonl").write_text(lines, encoding="utf-8")
    found = documents(tmp_path, 3, 400)
    assert len({*found}) == 3
    assert {len(text) for text in found} == {400}


def test_the_schemas_differ_by_the_keyword_only() -> None:
    mark = ', "x-intaglio": {"verbatim": true}'
    assert schema(verbatim=True).count(mark) == 2
    assert schema(verbatim=True).replace(mark, "") == schema(verbatim=False)
