"""All fields in which a request to an OpenAI-compatible path may state a constraint.

Does: put the fields of all dialects together. Does not: turn them into constraints (`service/dialects/every.py`).
"""

from .llama_cpp_fields import LlamaCppFields
from .openai_format_fields import OpenAIFormatField
from .sglang_fields import SglangFields
from .vllm_fields import VllmFields


class ConstraintFields(OpenAIFormatField, VllmFields, SglangFields, LlamaCppFields):
    """Exactly one of these fields may state a constraint."""
