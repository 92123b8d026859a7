"""How JSON may be written: white space, order of keys.

Does: hold the choices. Does not: act on them (`rules`).
"""

from dataclasses import dataclass

from ...contract.constraint import Whitespace


@dataclass(frozen=True, slots=True)
class Options:
    """The form of the output.

    `any_order`: keys in any order; else declared keys come in the order of the schema, then all others. `formats`:
    assert every `format` of the specification, whatever the draft. `extra_properties`: whether an object takes names
    that its schema neither declares nor speaks of. `exponents`: whether numbers of which something is asked may have
    one. `short_numbers`: whether their digits are bounded (see `numeric`).
    """

    whitespace: Whitespace = Whitespace.COMPACT
    any_order: bool = False
    formats: bool = True
    indent: int = 2
    extra_properties: bool = True
    exponents: bool = False
    short_numbers: bool = False

    @property
    def pretty(self) -> bool:
        """Whether every member and item has its own line."""
        return self.whitespace is Whitespace.PRETTY

    @property
    def comma(self) -> bytes:
        """What stands between members and items on one line, where that is fixed."""
        return b", " if self.whitespace is Whitespace.SPACED else b","

    @property
    def lenient(self) -> bool:
        """Whether white space may stand wherever JSON allows it."""
        return self.whitespace is Whitespace.LENIENT

    @property
    def colon(self) -> bytes:
        """What stands between a name and its value, where that is fixed."""
        return b": " if self.pretty or self.whitespace is Whitespace.SPACED else b":"
