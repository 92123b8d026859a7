"""`intaglio models` as its user types it, and the page made from the same data."""

import json
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import check_checkpoint, supported_families
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.layer_settings import LayerSettings

from tests.service.cli.conftest import Run
from tests.support.pages.models import compared
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint
from tests.support.tiny_families import DEEPSEEK_V2, GEMMA3, MINISTRAL, MIXTRAL
from tests.support.tiny_vision import QWEN3_VL, QWEN25_VL, write_vision_checkpoint


def test_a_checkpoint_that_loads_is_described(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", {**MINISTRAL, "num_hidden_layers": 3})
    result = run("models", "check", folder)
    assert result.exit_code == 0, result.output
    assert "tiny loads: MinistralForCausalLM" in result.output
    assert "layers with a sliding window of 100 tokens" in result.output
    assert "one context of 1,024" in result.output
    assert "can be divided by --tp 1, 2, 4, and by --pp up to 3" in result.output
    result = run("models", "check", write_checkpoint(tmp_path / "mixed", MIXTRAL))
    assert "a mixture of 5 experts a layer" in result.output
    assert "CPU only" not in result.output
    result = run("models", "check", write_checkpoint(tmp_path / "latents", DEEPSEEK_V2))
    assert "a mixture of 8 experts a layer" in result.output
    assert "runs on a CPU only" in result.output
    assert "reads images" not in result.output


@pytest.mark.parametrize(("config", "side"), [(QWEN25_VL, 28), (QWEN3_VL, 32)])
def test_a_model_with_vision_is_described(
    config: dict[str, Any], side: int, run: Run, tmp_path: Path
) -> None:
    folder = write_vision_checkpoint(tmp_path / "vision", config)
    result = run("models", "check", folder)
    assert result.exit_code == 0, result.output
    assert f"reads images, with a token for each {side} x {side} pixels" in result.output
    (folder / "preprocessor_config.json").write_text('{"patch_size": 13}')
    result = run("models", "check", folder)
    assert result.exit_code != 0
    assert "preprocessor_config.json/patch_size" in result.output


def test_the_memory_is_that_of_the_runner(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", QWEN3)
    result = run("models", "check", folder, "--context", "512", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    memory = {each["dtype"]: each for each in found["memory"]}
    built = build_runner(
        ModelConfig(model=str(folder), device="cpu", threads=1),
        CacheConfig(num_blocks=100),
        SchedulerConfig(max_running=1, max_batched_tokens=64),
    )
    per_token = memory["float32"]["kv_bytes_per_token"]
    assert built.cache_bytes == built.num_blocks * 16 * per_token
    sizes = [path.stat().st_size for path in folder.glob("*.safetensors")]
    assert 0 <= sum(sizes) - memory["float32"]["weight_bytes"] < 10_000  # headers
    assert memory["bfloat16"]["weight_bytes"] * 2 == memory["float32"]["weight_bytes"]
    context = memory["float32"]["contexts"]
    assert context == {"512": memory["float32"]["weight_bytes"] + 512 * per_token}
    assert check_checkpoint(folder).bytes_at(512) == context["512"]


def test_layers_with_a_window_count_for_the_tokens_in_it(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", GEMMA3)
    result = run("models", "check", folder, "--context", "32", "--context", "512", "--json")
    assert result.exit_code == 0, result.output
    memory = json.loads(result.output)["memory"][0]
    short, long = (memory["contexts"][each] - memory["weight_bytes"] for each in ("32", "512"))
    per_token = memory["kv_bytes_per_token"]
    assert short == 32 * per_token
    # Of three layers two have a window of 72.
    assert long == (512 + 2 * 72) * per_token // 3
    built = build_runner(
        ModelConfig(model=str(folder), device="cpu", threads=1),
        CacheConfig(num_blocks=200),
        SchedulerConfig(max_running=1, max_batched_tokens=64),
        layers=LayerSettings(grouped=True),
    )
    assert built.groups is not None
    assert built.groups.windows == (None, 72, 72)
    assert built.cache_bytes == built.num_blocks * 16 * per_token // 3


def test_quantised_weights_take_whole_elements_in_float32(run: Run) -> None:
    found = json.loads(run("models", "check", "embedded", "--json").output)
    memory = {each["dtype"]: each["weight_bytes"] for each in found["memory"]}
    assert memory["float32"] == 4 * found["parameters"]
    assert memory["bfloat16"] < 1.2 * found["parameters"]


def test_the_reason_of_a_refusal_is_named(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", QWEN3)
    (folder / "config.json").write_text(json.dumps({**QWEN3, "num_hidden_layers": 1}))
    result = run("models", "check", folder)
    assert result.exit_code == 4, result.output
    assert "not used model.layers.1.input_layernorm.weight" in result.output
    result = run("models", "check", tmp_path / "absent")
    assert result.exit_code == 4, result.output
    assert "there is no folder" in result.output


def test_a_template_that_would_not_load_is_told(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", QWEN3)
    (folder / "chat_template.jinja").write_text("{% if %}")
    result = run("models", "check", folder)
    assert result.exit_code == 4, result.output
    assert "the chat template is invalid" in result.output


def test_a_context_past_the_model_s_is_refused(run: Run, tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "tiny", QWEN3)
    result = run("models", "check", folder, "--context", "1025")
    assert result.exit_code == 2, result.output
    assert "ends at 1024 tokens" in result.output


def test_all_families_are_listed_and_compared_with_another_implementation(run: Run) -> None:
    result = run("models", "list", "--json")
    listed = [each["architecture"] for each in json.loads(result.output)]
    assert listed == [family.architecture for family in supported_families()]
    assert [name for name in listed if not compared(name)] == []
    table = run("models", "list")
    assert table.exit_code == 0
    assert all(family.name in table.output for family in supported_families())
