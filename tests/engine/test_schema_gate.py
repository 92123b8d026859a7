"""The grammar parts of an engine and its caller, as their settings have them."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.config import EngineConfig, GrammarConfig
from intaglio.engine.errors import ConfigError, ModelError
from intaglio.engine.grammars.schema_gate import CompilerService, SchemaGate, open_store
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    ConstraintTooLarge,
    Kind,
    Unsatisfiable,
)

from tests.support.tokens import small

SCHEMA = Constraint(
    Kind.JSON_SCHEMA, '{"type": "array", "items": {"type": "integer"}, "minItems": 3}'
)


def config(folder: Path, **given: object) -> GrammarConfig:
    kept = str(folder / "kept" / "g.sqlite")
    settings = {"grammar_store": kept, "grammar_deadline_s": 60.0, **given}
    return EngineConfig.load({"model": "x", **settings}, environ={}).grammar


def opened(settings: GrammarConfig, *, server: bool, **options: Any) -> SchemaGate:
    text = small()
    return SchemaGate.open(settings, text.vocabulary(), text.canonical, server=server, **options)


def test_settings_are_checked(tmp_path: Path) -> None:
    assert EngineConfig.load({"model": "x"}, environ={}).grammar == GrammarConfig()
    made = EngineConfig.load(
        {"model": "x"}, environ={"INTAGLIO_ENGINE_GRAMMAR_CPU_S": "0.5"}
    ).grammar
    assert made.grammar_cpu_s == 0.5
    for name, value in (
        ("grammar_bytes", 0),
        ("grammar_workers", 0),
        ("grammar_memory", 1),
        ("grammar_cpu_s", 0.0),
        ("grammar_deadline_s", float("nan")),
        ("grammar_isolation", "sometimes"),
    ):
        with pytest.raises(ConfigError) as error:
            config(tmp_path, **{name: value})
        assert error.value.where == name


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert GrammarConfig().store_path == tmp_path / "cache" / "intaglio" / "grammars.sqlite"
    assert open_store(GrammarConfig(grammar_store="off")) is None
    store = open_store(GrammarConfig())
    assert store is not None
    store.close()
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert open_store(GrammarConfig()) is None, "nobody has asked for it"
    with pytest.raises(ConfigError, match="nowhere") as error:
        open_store(GrammarConfig(grammar_store="/proc/nowhere/g.sqlite"))
    assert error.value.where == "grammar_store"


def test_what_the_door_found_out_the_workshop_need_not(tmp_path: Path) -> None:
    settings = config(tmp_path)
    tokenizer = small()
    gate = opened(settings, server=True)
    gate.start()
    gate.admit(SCHEMA)
    with pytest.raises(Unsatisfiable):
        gate.admit(Constraint(Kind.JSON_SCHEMA, '{"minimum": 3, "maximum": 2, "type": "number"}'))
    gate.close()
    gate.close()
    workshop = CompilerService(settings, Compiler(tokenizer.vocabulary(), tokenizer.canonical))
    grammar = workshop.cache.submit(SCHEMA).result(120)
    assert grammar.least_tokens == len(tokenizer.canonical(b"[0,0,0]")) + 1
    assert workshop.cache.stats.from_store >= 1
    workshop.close()


def test_a_program_with_its_own_engine_starts_no_process_unless_told_otherwise(
    tmp_path: Path,
) -> None:
    begun = tmp_path / "begun"
    entry = f"open({str(begun)!r}, 'a').write('.'); raise SystemExit(1)"
    for mode, server in (("server", False), ("never", True)):
        settings = config(tmp_path, grammar_isolation=mode)
        gate = opened(settings, server=server, entry=entry)
        gate.start()
        gate.admit(SCHEMA)
        gate.close()
    assert not begun.exists()
    for mode, server in (("server", True), ("always", False)):
        settings = config(tmp_path, grammar_isolation=mode)
        gate = opened(settings, server=server, entry=entry)
        with pytest.raises(ModelError, match="does not start"):
            gate.start()
        gate.close()
    assert len(begun.read_text()) >= 2


def test_a_program_with_its_own_engine_refuses_much_work_as_a_server_does(
    tmp_path: Path,
) -> None:
    names = [f"p{number}" for number in range(7000)]
    schema = {
        "type": "object",
        "properties": {key: {"type": "boolean"} for key in names},
        "required": names,
    }
    long = Constraint(Kind.JSON_SCHEMA, json.dumps(schema))
    trusting = opened(config(tmp_path, grammar_isolation="never"), server=False)
    assert trusting.admit(long).code is None
    trusting.close()
    gate = opened(config(tmp_path), server=False)
    assert gate.admit(SCHEMA).shortest == b"[0,0,0]"
    gate.close()
    for gate in (
        opened(config(tmp_path), server=False),
        opened(config(tmp_path), server=False),  # it finds the verdict in the store
    ):
        with pytest.raises(ConstraintTooLarge, match="units of work"):
            gate.admit(long)
        gate.close()


def test_a_worker_that_cannot_start_is_said_to_be_so(tmp_path: Path) -> None:
    gate = opened(config(tmp_path), server=True, entry="raise SystemExit(1)")
    with pytest.raises(ModelError, match="does not start"):
        gate.start()
    gate.close()


def test_a_schema_that_takes_too_much_is_refused_at_the_door(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(40_000)]
    schema = {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
    }
    heavy = Constraint(Kind.JSON_SCHEMA, json.dumps(schema))
    gate = opened(config(tmp_path, grammar_cpu_s=600.0, grammar_workers=1), server=True)
    verdict = gate.submit(heavy).result(120)
    assert verdict.code == "constraint_too_large"
    assert verdict.final
    gate.admit(SCHEMA)
    gate.close()
