"""`python serve_gold.py FOLDER GOLD [DATA]`: the service over the gold engine; prints its address.

FOLDER receives a model without weights, GOLD is the JSON of `gold_engine.Gold`, DATA a folder for files and batches.
"""

import sys
from functools import partial
from pathlib import Path

import msgspec
from intaglio.engine.api import Engines, GrammarConfig
from intaglio.service.config import ServiceConfig
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.http.app import Application
from intaglio.service.http.server import ServerAddress, serve_application
from intaglio.service.routing.router import EngineRouter

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.conformance.clients.gold_engine import Gold, launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


def announce(where: ServerAddress) -> None:
    print(where.url, flush=True)


if __name__ == "__main__":
    gold = msgspec.json.decode(sys.argv[2], type=Gold)
    folder = write_checkpoint(Path(sys.argv[1]) / gold.model, LLAMA)
    make = partial(
        Application,
        EngineRouter(Engines.owned([launch(gold)])),
        partial(TextModel.load, folder),
        gold.model,
        ServiceConfig(
            port=0,
            log_format="json",
            log_level="warning",
            data=sys.argv[3] if len(sys.argv) > 3 else "",
        ),
        grammar=GrammarConfig(grammar_deadline_s=60.0),
    )
    raise SystemExit(serve_application(make, announce))
