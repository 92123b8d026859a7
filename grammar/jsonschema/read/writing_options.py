"""The options of the JSON output: white space, order of keys, form of numbers, the document.

Does: hold the choices. Does not: apply them (`rules`, `scalars`).
"""

from dataclasses import dataclass

from ...contract.constraint import Whitespace


@dataclass(frozen=True, slots=True)
class Options:
    """The form of the output.

    `any_order`: keys in any order; else declared keys come in the order of the schema, then all others. `formats`:
    assert every `format` of the specification in every draft. `extra_properties`: whether an object may have names that
    its schema does not mention. `exponents`: whether constrained numbers may have an exponent. `short_numbers`: whether
    the digits of numbers are bounded (see `number_formulas`). `document`: the text of which verbatim strings are
    substrings; None: there is none. `any_text`: whether a string may have every text of a format that no automaton
    decides. Such a text is judged where it ends, so that one can be begun that has no legal end: for judging texts, not
    for writing them.
    """

    whitespace: Whitespace = Whitespace.COMPACT
    any_order: bool = False
    formats: bool = True
    indent: int = 2
    extra_properties: bool = True
    exponents: bool = False
    short_numbers: bool = False
    document: str | None = None
    any_text: bool = False

    @property
    def pretty(self) -> bool:
        """Whether every member and item has its own line."""
        return self.whitespace is Whitespace.PRETTY

    @property
    def comma(self) -> bytes:
        """The text between members or items on one line, if white space is fixed."""
        return b", " if self.whitespace is Whitespace.SPACED else b","

    @property
    def lenient(self) -> bool:
        """Whether white space is free wherever JSON allows it."""
        return self.whitespace is Whitespace.LENIENT

    @property
    def colon(self) -> bytes:
        """The text between a name and its value, if white space is fixed."""
        return b": " if self.pretty or self.whitespace is Whitespace.SPACED else b":"
