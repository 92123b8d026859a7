"""`python serve_scripted.py FOLDER SCRIPT SETTINGS`: the service over the scripted engine, as a process.

It prints its address. SCRIPT and SETTINGS are JSON.
"""

import json
import sys
from functools import partial
from pathlib import Path

import msgspec
from intaglio.engine.api import EngineClient
from intaglio.service.app import serve_backend
from intaglio.service.config import ServiceConfig
from intaglio.service.extract import TextModel

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.support.scripted_engine import Script, launch

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    script = msgspec.json.decode(sys.argv[2], type=Script)
    raise SystemExit(
        serve_backend(
            EngineClient(launch(script)),
            partial(TextModel.load, folder),
            folder.name,
            ServiceConfig(log_format="json", **json.loads(sys.argv[3])),
            lambda where: print(where.url, flush=True),
        )
    )
