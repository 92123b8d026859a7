"""Fields of SGLang: `regex`, `ebnf` and `json_schema`.

Does: define the shapes. Does not: turn them into constraints (`service/dialects/sglang.py`).
"""

from typing import Any

from ..base import Wire


class SglangFields(Wire):
    """The fields of a request that SGLang adds to OpenAI's. llama.cpp has the last one too."""

    regex: str | None = None
    ebnf: str | None = None
    json_schema: dict[str, Any] | bool | str | None = None
