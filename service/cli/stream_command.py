"""`intaglio extract --stream`: one document through a service, printed while the model writes.

Does: print each event as a line of JSON. Does not: read options or documents (`extract_command`).
"""

import sys
from typing import Any

from ..client import Client, GuidanceOptions
from .cli_errors import CliError, Exit
from .documents import Document


def stream_document(
    url: str, schema: Any, document: Document, model: str | None, options: GuidanceOptions
) -> None:
    """Print the events of one extraction. Raises `IntaglioError` if it fails."""
    try:
        client = Client(url)
    except ValueError as error:
        raise CliError(str(error), Exit.USAGE) from None
    asking = client.extract_stream(
        schema, document.text, model=model, file=document.file, **options
    )
    with client, asking as stream:
        for event in stream:
            hidden = {"index"}
            sys.stdout.write(event.model_dump_json(by_alias=True, exclude=hidden) + "\n")
            sys.stdout.flush()
