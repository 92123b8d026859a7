"""All operations of a server.

Does: put the tables of all modules of handlers together. Does not: route (`endpoint`) or serve (`app`).
"""

from . import (
    adapter_routes,
    batch_routes,
    engine_routes,
    extract_routes,
    file_routes,
    job_routes,
    kept_document_routes,
    native_routes,
    ollama_routes,
    openai_routes,
    page_routes,
    responses_routes,
    review_routes,
    routes,
    schema_routes,
)
from .document_routes import documented
from .operations import Operation

OPERATIONS: tuple[Operation, ...] = documented(
    (
        *extract_routes.OPERATIONS,
        *kept_document_routes.OPERATIONS,
        *routes.OPERATIONS,
        *openai_routes.OPERATIONS,
        *ollama_routes.OPERATIONS,
        *native_routes.OPERATIONS,
        *responses_routes.OPERATIONS,
        *schema_routes.OPERATIONS,
        *adapter_routes.OPERATIONS,
        *engine_routes.OPERATIONS,
        *file_routes.OPERATIONS,
        *batch_routes.OPERATIONS,
        *job_routes.OPERATIONS,
        *review_routes.OPERATIONS,
        *page_routes.OPERATIONS,
    )
)
