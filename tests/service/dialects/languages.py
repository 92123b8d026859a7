"""What a constraint lets through, by the compiler over single bytes."""

from typing import Any

from intaglio.grammar.api import Compiler, Constraint, Violation, Vocabulary
from intaglio.schemas.dialects.constraint_fields import ConstraintFields
from intaglio.service.dialects.every import stated_constraint
from intaglio.service.dialects.stated import Stated

END = 256
BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (END,), 257)


def lets_through(constraint: Constraint, text: str) -> bool:
    """Whether `text` is a whole answer under a constraint."""
    matcher = Compiler(BYTES, tuple).compile(constraint).matcher()
    try:
        for token in (*text.encode(), END):
            matcher.accept(token)
    except Violation:
        return False
    return True


def stated(**fields: Any) -> Stated:
    """The constraint of a request with these fields."""
    found = stated_constraint(ConstraintFields.model_validate(fields, strict=True, by_alias=True))
    assert found is not None
    return found
