"""A rule of a grammar as tables, for the machine.

Does: answer what `rule.Rule` asks. Does not: make the tables (`lower`).
"""

from ..machine.rule import Expansion, Target


class GrammarRule:
    """A rule for the machine; its states are numbers. See `rule.Rule`."""

    def __init__(self) -> None:
        self.start = 0
        self._expansions: list[Expansion] = []
        self._returns: list[tuple[Target, ...]] = []
        self._least: list[int] = []

    def settle(
        self, expansions: list[Expansion], returns: list[tuple[Target, ...]], least: list[int]
    ) -> None:
        """Fill in the tables, once: rules that call one another exist before their tables do."""
        self._expansions, self._returns, self._least = expansions, returns, least

    def expand(self, key: object) -> Expansion:
        """See `Rule.expand`."""
        assert isinstance(key, int)
        return self._expansions[key]

    def resume(self, back: object, outcome: int, twin: bool) -> Target | None:  # noqa: ARG002
        """See `Rule.resume`; nothing is remembered."""
        assert isinstance(back, int)
        targets = self._returns[back]
        return targets[outcome] if outcome < len(targets) else None

    def least(self, key: object) -> int:
        """See `Rule.least`; exact."""
        assert isinstance(key, int)
        return self._least[key]
