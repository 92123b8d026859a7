"""Fields of llama.cpp: `grammar` and `json_schema`.

Does: define the shapes. Does not: turn them into constraints (`service/dialects/llama_cpp.py`).
"""

from typing import Any

from ..base import Wire


class LlamaCppFields(Wire):
    """The fields of a request that llama.cpp adds to OpenAI's. SGLang has the last one too.

    `grammar` is a grammar in GBNF with the rule `root`, or a Lark grammar with the rule `start`; empty means none.
    """

    grammar: str | None = None
    json_schema: dict[str, Any] | bool | str | None = None
