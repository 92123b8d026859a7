"""Multi-head latent attention: its sizes, read from `config.json`.

Does: read them, and give the sizes of its matrices. Does not: compute; see `latent_attention.py`.
"""

import math
from dataclasses import dataclass

from intaglio.kernels.contracts import ScoreScaling

from ..errors import ModelError
from .config_values import ConfigValues
from .family import LATENT_NORM, QUERY_LATENT_NORM
from .rope_spec import RopeSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentSpec:
    """The sizes of latent attention (DeepSeek-AI 2024, DeepSeek-V2).

    The keys and values of all heads are made of one latent of `rank` elements for each token, and of `rotated` elements
    of the key, which have the rotary embedding and are shared by all heads. The query of a head has `plain` elements
    for the former and `rotated` for the latter; its values have `value`. Queries are made of a latent of `query_rank`
    elements; None: of the input. With `interleaved`, the elements of a rotated pair are neighbours.
    """

    rank: int
    rotated: int
    plain: int
    value: int
    query_rank: int | None
    interleaved: bool

    @property
    def width(self) -> int:
        """The elements that are kept of a token."""
        return self.rank + self.rotated

    @property
    def query(self) -> int:
        """The elements of a head's query in a checkpoint."""
        return self.plain + self.rotated

    @property
    def absent(self) -> tuple[str, ...]:
        """The parts of `LATENT_LINEARS` that this model does not have."""
        return ("q_down", "q_up") if self.query_rank is None else ("q",)

    def matrices(self, heads: int, hidden: int) -> dict[str, tuple[int, int]]:
        """Outputs and inputs of the matrices, by part."""
        found = {
            "kv_down": (self.width, hidden),
            "kv_up": (heads * (self.plain + self.value), self.rank),
            "output": (hidden, heads * self.value),
        }
        if self.query_rank is None:
            return found | {"q": (heads * self.query, hidden)}
        return found | {
            "q_down": (self.query_rank, hidden),
            "q_up": (heads * self.query, self.query_rank),
        }

    def norms(self) -> list[tuple[str, int]]:
        """The names and sizes of the norms of latents."""
        norms = [(LATENT_NORM, self.rank)]
        return norms if self.query_rank is None else [*norms, (QUERY_LATENT_NORM, self.query_rank)]

    def scores(self, rope: RopeSpec) -> ScoreScaling:
        """The scaling of scores, which YaRN raises."""
        scale, weight = self.query**-0.5, rope.params.get("mscale_all_dim", 0.0)
        factor = rope.params.get("factor", 1.0)
        if rope.type != "default" and weight and factor > 1:
            scale *= (0.1 * weight * math.log(factor) + 1) ** 2
        return ScoreScaling(scale)


def read_latent(config: ConfigValues, heads: int) -> LatentSpec:
    """The latent attention of a model with this number of heads. Raises `ModelError`."""
    rotated = config.count("qk_rope_head_dim")
    if rotated % 2:
        raise ModelError(
            f"qk_rope_head_dim {rotated} is odd; rotation needs pairs", where="qk_rope_head_dim"
        )
    keys = config.count("num_key_value_heads", heads)
    if keys != heads:
        raise ModelError(
            f"latent attention has as many key heads as query heads, {heads}, not {keys}",
            where="num_key_value_heads",
        )
    return LatentSpec(
        rank=config.count("kv_lora_rank"),
        rotated=rotated,
        plain=config.count("qk_nope_head_dim"),
        value=config.count("v_head_dim"),
        query_rank=config.optional_count("q_lora_rank"),
        interleaved=config.flag("rope_interleave", default=True),
    )
