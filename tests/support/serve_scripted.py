"""`python serve_scripted.py FOLDER SCRIPT SETTINGS [GRAMMAR]`: the service over the scripted engine, as a process.

It prints its address. SCRIPT, SETTINGS and GRAMMAR, those of the compiler, are JSON. From then on its process ends with
status 66 if anything in it looks up a host or connects to one. With `api_workers` above 1 it has so many API processes.
"""

import json
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from intaglio.engine.api import Engines, GrammarConfig
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.http.app import Application
from intaglio.service.http.listen import CannotListen
from intaglio.service.http.server import ServerAddress, serve_application, serve_fleet
from intaglio.service.http.worker_fleet import EXIT_CANNOT_SERVE, FleetPlan
from intaglio.service.routing.router import EngineRouter

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.scripted_engine import Script, launch

PATIENT = '{"grammar_deadline_s": 60.0}'


def seal(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook that ends the service if it connects to another host."""
    if event == "socket.getaddrinfo" or (event == "socket.connect" and isinstance(args[1], tuple)):
        print(f"the service went out: {event} {args[1:]}", file=sys.stderr, flush=True)
        os._exit(66)


def announce(where: ServerAddress) -> None:
    print(where.url, flush=True)
    sys.addaudithook(seal)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    script = msgspec.json.decode(sys.argv[2], type=Script)
    config = ServiceConfig(log_format="json", **json.loads(sys.argv[3]))
    grammar = GrammarConfig(**json.loads(sys.argv[4] if len(sys.argv) > 4 else PATIENT))
    make = partial(
        Application,
        EngineRouter(Engines.owned([launch(script)] * config.engines)),
        partial(TextModel.load, folder),
        folder.name,
        config,
        grammar=grammar,
    )
    plan = FleetPlan(
        config=config,
        grammar=grammar,
        launches=(launch(script),) * config.engines,
        folder=str(folder),
        model=folder.name,
        count=config.api_workers,
    )
    try:
        one = config.api_workers < 2
        status = serve_application(make, announce) if one else serve_fleet(plan, announce)
    except CannotListen as error:
        print(error.message, file=sys.stderr)
        status = EXIT_CANNOT_SERVE
    raise SystemExit(status)
