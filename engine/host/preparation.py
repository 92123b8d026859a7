"""The part of building an engine that needs no device.

Does: load the tokenizer, make the compiler of constraints, start the processes of the other ranks; for an engine that
stands by, load what the first requests would wait for; for another, make the context of its GPU. Does not: build the
engine (`build_engine`).
"""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Self

import torch
from intaglio.grammar.api import Compiler

from ..config import EngineConfig
from ..grammars.schema_gate import shared_bytes
from ..model.spec import read_spec
from ..ranks.rank_group import RankGroup
from ..ranks.start_ranks import start_ranks
from ..run.batch import load_loops
from ..text.tokenizer import Tokenizer


def make_context() -> Thread:
    """Make the context of the GPU, if there is one, in the thread that is returned."""
    thread = Thread(target=_synchronize, name="context", daemon=True)
    thread.start()
    return thread


def _synchronize() -> None:
    with contextlib.suppress(RuntimeError):  # which the engine meets again, and reports
        if torch.cuda.is_available():
            torch.cuda.synchronize()


@dataclass(frozen=True, slots=True)
class Preparation:
    """An engine that is prepared. `group` is None for one process; `seconds` is the time that it took.

    `sockets` is the folder for sockets of the engine's process; None for an engine in a program of the user.
    """

    config: EngineConfig
    tokenizer: Tokenizer
    compiler: Compiler
    group: RankGroup | None
    seconds: float
    sockets: Path | None = None

    @classmethod
    def of(cls, config: EngineConfig, sockets: Path | None = None) -> Self:
        """Prepare the engine of these settings, in a process with this folder for sockets.

        Raises:
            ModelError: the checkpoint or its tokenizer cannot be used.
            ConfigError: a setting does not fit the model.
        """
        began = time.perf_counter()
        folder = Path(config.model.model)
        width = read_spec(folder).vocab_size
        group = start_ranks(config)  # first: they load their libraries meanwhile
        try:
            tokenizer = Tokenizer.load(folder)
            vocabulary = tokenizer.vocabulary(width)
            compiler = Compiler(vocabulary, tokenizer.canonical, shared_bytes(config.grammar))
        except BaseException:
            if group is not None:
                group.close()
            raise
        seconds = round(time.perf_counter() - began, 3)
        return cls(config, tokenizer, compiler, group, seconds, sockets)

    def warm(self) -> None:
        """Load the loops of batches and of grammars, which takes seconds of a processor, while nothing waits for it."""
        load_loops()
        self.compiler.warm()
