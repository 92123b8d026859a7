"""`python -m tests.support.serve_answering FOLDER ANSWERS SETTINGS [GRAMMAR]`: the service over an answering engine.

FOLDER has a tokenizer and a chat template, ANSWERS is a file with an `Answers`, SETTINGS and GRAMMAR, those of the
compiler, are JSON. It prints its address when it listens. With `api_workers` above 1 it has as many API processes.
"""

import json
import sys
from functools import partial
from pathlib import Path

import msgspec
from intaglio.engine.api import Engines, GrammarConfig, Launch
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.http.app import Application
from intaglio.service.http.server import ServerAddress, serve_application, serve_fleet
from intaglio.service.http.worker_fleet import FleetPlan
from intaglio.service.routing.router import EngineRouter

from tests.support.answering_engine import Answers, answering

NO_STORE = '{"grammar_store": "off"}'


def announce(where: ServerAddress) -> None:
    print(where.url, flush=True)


def make(
    folder: Path, launch: Launch, config: ServiceConfig, grammar: GrammarConfig
) -> Application:
    router = EngineRouter(Engines.owned((launch,)))
    load = partial(TextModel.load, folder)
    return Application(router, load, "answering", config, grammar=grammar)


def main() -> int:
    folder = Path(sys.argv[1])
    launch = answering(msgspec.json.decode(Path(sys.argv[2]).read_bytes(), type=Answers))
    config = ServiceConfig(log_format="json", **json.loads(sys.argv[3]))
    grammar = GrammarConfig(**json.loads(sys.argv[4] if len(sys.argv) > 4 else NO_STORE))
    if config.api_workers < 2:
        return serve_application(partial(make, folder, launch, config, grammar), announce)
    plan = FleetPlan(
        config=config,
        grammar=grammar,
        launches=(launch,),
        folder=str(folder),
        model="answering",
        count=config.api_workers,
    )
    return serve_fleet(plan, announce)


if __name__ == "__main__":
    raise SystemExit(main())
