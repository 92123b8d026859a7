"""An engine in this process, driven as its own process drives it, with the requests that the service would send it."""

import sys
import time
from pathlib import Path

from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.garbage import GarbageCollector
from intaglio.engine.host.process import SWITCH_INTERVAL_S
from intaglio.engine.metrics import Snapshot
from intaglio.engine.types import Finish, Request
from intaglio.service.extraction.extract import Extractor
from intaglio.service.extraction.known_schema import KnownSchemas
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.extraction.translate import extract_request


class EngineAlone:
    """One engine of the environment's settings, or of `settings`."""

    def __init__(self, folder: Path, **settings: object) -> None:
        from intaglio.engine.api import GrammarConfig, SchemaGate

        assembly = build(EngineConfig.load({**settings, "model": str(folder)}))
        text = TextModel.load(folder)
        config = GrammarConfig(grammar_store="off", grammar_isolation="never")
        tokenizer = text.tokenizer
        self._gate = SchemaGate.open(config, text.vocabulary, tokenizer.canonical, server=False)
        self._engine = assembly.engine
        self._extractor = Extractor(text, assembly.info)
        self._known = KnownSchemas(self._extractor)
        self._collector = GarbageCollector()
        self._collector.start()
        sys.setswitchinterval(SWITCH_INTERVAL_S)

    @property
    def metrics(self) -> Snapshot:
        """The counters of the engine."""
        return self._engine.metrics()

    def run(self, bodies: list[bytes], at_once: int) -> tuple[float, list[float]]:
        """Seconds from the first submission to the last end, and of each request. At most `at_once` are open."""
        waiting = [self._request(body) for body in reversed(bodies)]
        engine, latencies = self._engine, []
        sent: dict[str, float] = {}
        began = time.perf_counter()
        while waiting or sent:
            while waiting and len(sent) < at_once:
                request = waiting.pop()
                sent[request.id] = time.perf_counter()
                engine.submit(request)
            for delta in engine.step():
                if delta.finish is not None:
                    latencies.append(time.perf_counter() - sent.pop(delta.request_id))
                    if delta.finish is not Finish.STOP:
                        raise RuntimeError(f"a request ended with {delta.finish}: {delta.error}")
            idle = not engine.has_work
            if idle and engine.open_requests:
                engine.wait()
            self._collector.between_steps(idle=idle)
        return time.perf_counter() - began, latencies

    def _request(self, body: bytes) -> Request:
        known = self._known.prepare(body)
        if known is not None:
            return known.prepared.request
        parsed = self._extractor.parse(extract_request(body, max_depth=128))
        examined = self._extractor.examined(parsed, self._gate.admit(parsed.constraint))
        self._known.learn(body, examined)
        return self._extractor.prepare(examined).request
