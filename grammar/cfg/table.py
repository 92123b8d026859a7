"""A rule of a grammar as lookup tables, in the interface of the machine.

Does: implement `rule.Rule`. Does not: build the tables (`lower`).
"""

from ..machine.rule import Expansion, Target


class GrammarRule:
    """A rule with numbered states. See `rule.Rule`."""

    def __init__(self) -> None:
        self.start = 0
        self._expansions: list[Expansion] = []
        self._returns: list[tuple[Target, ...]] = []
        self._least: list[int] = []

    def settle(
        self, expansions: list[Expansion], returns: list[tuple[Target, ...]], least: list[int]
    ) -> None:
        """Set the tables, once; mutually recursive rules are created before their tables."""
        self._expansions, self._returns, self._least = expansions, returns, least

    def expand(self, key: object) -> Expansion:
        """See `Rule.expand`."""
        assert isinstance(key, int)
        return self._expansions[key]

    def resume(self, back: object, outcome: int, twin: bool) -> Target | None:  # noqa: ARG002 - no texts here
        """See `Rule.resume`; no text is remembered."""
        assert isinstance(back, int)
        targets = self._returns[back]
        return targets[outcome] if outcome < len(targets) else None

    def least(self, key: object) -> int:
        """See `Rule.least`; exact."""
        assert isinstance(key, int)
        return self._least[key]
