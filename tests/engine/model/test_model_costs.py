"""Costs of a step, against sums by hand and against a model that was built."""

from pathlib import Path

import pytest
from intaglio.engine.api import checkpoint_costs
from intaglio.engine.model.expected_tensors import expected_shapes
from intaglio.engine.model.model_costs import ModelCosts
from intaglio.engine.model.spec import read_spec

from tests.support.tiny_checkpoint import QWEN2, write_checkpoint


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = {**QWEN2, "tie_word_embeddings": False}
    return write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", config)


def test_weights_are_all_but_the_embedding_of_an_untied_model(folder: Path) -> None:
    spec, costs = read_spec(folder), checkpoint_costs(folder)
    embedding = spec.vocab_size * spec.hidden
    assert not spec.tied
    assert costs.weight_bytes == 2 * (costs.parameters - embedding)
    assert checkpoint_costs(folder, element_bytes=4).weight_bytes == 2 * costs.weight_bytes


def test_a_token_multiplies_with_every_matrix_once(folder: Path) -> None:
    spec, costs = read_spec(folder), checkpoint_costs(folder)
    by_hand = sum(
        2 * rows * columns
        for name, (rows, columns) in (
            (name, shape) for name, shape in expected_shapes(spec).items() if len(shape) == 2
        )
        if "layers" in name
    )
    assert costs.token_operations == by_hand
    assert costs.head_operations == 2 * spec.vocab_size * spec.hidden
    assert costs.pair_operations == 4 * spec.layers * spec.heads * spec.head_dim


def test_a_batch_reads_the_weights_once_and_each_context(folder: Path) -> None:
    costs = checkpoint_costs(folder)
    one, many = costs.decode(1, 99), costs.decode(10, 99)
    assert one.bytes == costs.weight_bytes + 100 * costs.kv_bytes_per_token
    assert many.bytes - one.bytes == 9 * 100 * costs.kv_bytes_per_token
    assert many.operations == 10 * one.operations


def test_a_prompt_attends_to_what_is_before_each_token() -> None:
    costs = ModelCosts(
        parameters=0,
        weight_bytes=100,
        kv_bytes_per_token=1,
        token_operations=10,
        head_operations=5,
        pair_operations=2,
    )
    whole, rest = costs.prefill(4), costs.prefill(1, cached=3)
    assert whole.operations == 4 * 10 + 2 * (1 + 2 + 3 + 4) + 5
    assert rest.operations == 10 + 2 * 4 + 5
    assert whole.bytes == rest.bytes == 104
