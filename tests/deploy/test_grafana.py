"""The dashboard and the alerts use only metrics and labels that a server exports."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from intaglio.engine.api import Cut, CutReason, Delta, Finish, Usage
from intaglio.grammar.api import CacheStats
from intaglio.service.http.service_metrics import Metrics
from intaglio.service.observability.generations import GenerationWatch, serving

from tests.support.backend_double import BackendDouble
from tests.support.queries import exposed, labels_of, metrics_of
from tests.support.snapshots import snapshot

FOLDER = Path(__file__).parents[2] / "deploy/grafana"
OF_PROMETHEUS = {"job", "instance", "le"}


def dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "intaglio.json").read_text("utf-8"))
    return found


def queries() -> Iterator[str]:
    for panel in dashboard()["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    rules = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))
    yield from (rule["expr"] for group in rules["groups"] for rule in group["rules"])


def metrics() -> Metrics:
    """The metrics of a server that has done everything once."""
    counted = snapshot(finished={"stop": 1}, seconds={"forward": 1.0}, steps=1)
    engine = BackendDouble(metrics=counted, grammars=CacheStats())
    made = Metrics(engine)
    made.answered("/v1/extract", "ok", 1.0)
    with made.row_tried(), serving("/v1/extract"):
        watch = GenerationWatch([made.generations], "m", 1)
    cuts = (Cut(CutReason.LOOPED, 0, 1),)
    watch.add(Delta(request_id="a", tokens=(1,)))
    watch.add(Delta(request_id="a", tokens=(1,), finish=Finish.STOP, usage=Usage(1, 2, cuts=cuts)))
    watch.end()
    return made


def test_every_metric_that_is_asked_for_exists() -> None:
    there = set(exposed(metrics().collect()))
    # Of the engine's process, which a double does not have: the names that prometheus-client gives any process.
    there |= {f"intaglio_engine_{name}" for name in there if name.startswith("process_")}
    asked = {name for query in queries() for name in metrics_of(query)}
    assert len(asked) > 30
    assert asked <= there


def test_every_label_that_is_asked_for_exists() -> None:
    labels = {
        label
        for family in metrics().collect()
        for sample in family.samples
        for label in sample.labels
    }
    asked = {label for query in queries() for label in labels_of(query)}
    assert asked <= labels | OF_PROMETHEUS


def test_a_query_for_another_metric_would_be_noticed() -> None:
    query = 'sum by (colour) (rate(intaglio_colours_total{shade="dark"}[5m])) / latency[5m]'
    assert metrics_of(query) == {"intaglio_colours_total", "latency"}
    assert labels_of(query) == {"colour", "shade"}


def test_brackets_of_queries_close() -> None:
    for query in queries():
        for opened, closed in ("()", "{}", "[]"):
            assert query.count(opened) == query.count(closed), query


def test_panels_are_told_apart_and_do_not_overlap() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert all(x < 24 for x, _ in cells)


def test_every_panel_uses_the_data_source_that_the_reader_chose() -> None:
    shown = dashboard()
    names = {variable["name"] for variable in shown["templating"]["list"]}
    assert names == {"source", "job", "instance", "route"}
    assert all(
        panel["datasource"] == {"type": "prometheus", "uid": "${source}"}
        for panel in shown["panels"]
        if panel["type"] != "row"
    )
