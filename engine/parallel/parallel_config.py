"""The settings of a model that several processes compute together.

Does: define them and check their ranges. Does not: compare them with a model (`ranks.start_ranks`).
"""

from dataclasses import dataclass

from ..errors import ConfigError

MOST_RANKS = 64

ROWS_A_RANK = 2048
"""Tokens of a rank from which a step is divided by tokens. Two H200s take 48 ms to start all kernels and exchanges of a
step that is divided so, whatever its size (8B), and 31 ms with divided matrices; with some 4,000 tokens they compute
as long."""
LEAST_ROWS_A_RANK = 2
MOST_TOKENS = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelConfig:
    """One model in several processes, each on its own GPU or on a share of the processor cores.

    Tensor parallelism: `tp` processes hold a part of every matrix and compute every step together. Pipeline
    parallelism: `pp` processes, the stages, hold some of the layers each, and compute different sequences at a time,
    in `pp_batches` steps in flight; 0: one for each stage, and on GPUs one more. With both, every stage has `tp`
    processes.

    Sequence parallelism: with `sp`, steps of at least `sp_tokens` tokens are divided among the `tp` processes by their
    tokens, so that less is exchanged; 0: `ROWS_A_RANK` tokens for each process. Each then holds the whole layers.

    A model that would not be faster in `tp` parts is refused unless `tp_any_size`. A process that waits longer than
    `tp_timeout_s` for the others in one exchange, of either kind, counts as lost, and the engine ends.
    """

    tp: int = 1
    tp_any_size: bool = False
    tp_timeout_s: float = 120.0
    pp: int = 1
    pp_batches: int = 0
    sp: bool = False
    sp_tokens: int = 0

    def __post_init__(self) -> None:
        for name in ("tp", "pp"):
            count = getattr(self, name)
            if not 1 <= count <= MOST_RANKS:
                raise ConfigError(f"{name} must be from 1 to {MOST_RANKS}, not {count}", where=name)
        if self.ranks > MOST_RANKS:
            raise ConfigError(
                f"tp {self.tp} and pp {self.pp} are {self.ranks} processes, and {MOST_RANKS} is the most",
                where="pp",
                hint=f"set pp to at most {MOST_RANKS // self.tp}",
            )
        if not 0 <= self.pp_batches <= MOST_RANKS:
            raise ConfigError(
                f"pp_batches must be from 0 to {MOST_RANKS}, not {self.pp_batches}",
                where="pp_batches",
            )
        if not 1 <= self.tp_timeout_s <= 3600:
            raise ConfigError(
                f"tp_timeout_s must be from 1 to 3600 seconds, not {self.tp_timeout_s}",
                where="tp_timeout_s",
            )

        self._refuse_sequences()

    def _refuse_sequences(self) -> None:
        """Raise `ConfigError` if tokens cannot be divided as the settings say."""
        if self.sp_tokens and not LEAST_ROWS_A_RANK * self.tp <= self.sp_tokens <= MOST_TOKENS:
            raise ConfigError(
                f"sp_tokens must be 0, or from {LEAST_ROWS_A_RANK} for each process to {MOST_TOKENS}, not "
                f"{self.sp_tokens}",
                where="sp_tokens",
            )
        if self.sp and self.tp == 1:
            raise ConfigError(
                "sp divides tokens among the processes of tp, which is 1",
                where="sp",
                hint="set tp to at least 2, or sp to false",
            )
        if self.sp and self.pp > 1:
            raise ConfigError(
                "the tokens of stages are not divided",
                where="sp",
                hint="set pp to 1, or sp to false",
            )

    def refuse_with(self, *, deterministic: bool) -> None:
        """Raise `ConfigError` if a deterministic engine would compute a token in two ways."""
        if self.sp and deterministic:
            raise ConfigError(
                "with sp a large step rounds sums differently from a small one",
                where="sp",
                hint="set sp to false, or leave deterministic at false",
            )

    @property
    def divided_from(self) -> int | None:
        """The least tokens of a step that is divided by its tokens; None: none is."""
        return (self.sp_tokens or ROWS_A_RANK * self.tp) if self.sp else None

    @property
    def ranks(self) -> int:
        """The processes of one engine."""
        return self.tp * self.pp

    def batches(self, *, ahead: bool) -> int:
        """The steps in flight of an engine in stages.

        By itself one for each stage; with `ahead` another one, which is read and planned while all stages compute.
        """
        return self.pp_batches or self.pp + ahead
