"""Options of `intaglio serve`: access from elsewhere, tools, drafts, and the tiers of the KV cache.

Does: declare them. Does not: build settings (`serve_command`).
"""

from pathlib import Path
from typing import Annotated

import typer

DraftsOption = Annotated[
    str | None,
    typer.Option(
        help="Draft tokens ahead: auto, off, or sources such as document,rows; on a CPU.  [default: auto]"
    ),
]
KvHostBytesOption = Annotated[
    int | None,
    typer.Option(min=0, help="Memory for prompt prefixes evicted from the KV cache.  [default: 0]"),
]
KvDiskOption = Annotated[
    str | None,
    typer.Option(help="Folder for prompt prefixes, kept over restarts.  [default: off]"),
]
KvDiskBytesOption = Annotated[
    int | None,
    typer.Option(min=1 << 20, help="Maximum size of that folder, in bytes.  [default: 4 GiB]"),
]
EnginesOption = Annotated[
    int | None,
    typer.Option(min=1, max=64, help="Engine processes, each with a GPU of its own.  [default: 1]"),
]
PrefillEnginesOption = Annotated[
    int | None,
    typer.Option(
        min=0, max=63, help="Engines of these that compute prompts for the others.  [default: 0]"
    ),
]
KvListenOption = Annotated[
    str | None,
    typer.Option(
        help="Compute prompts for servers that connect here: a port of this host, or HOST:PORT."
    ),
]
KvPeerOption = Annotated[
    list[str] | None,
    typer.Option(help="HOST:PORT of a server that computes this one's prompts; repeatable."),
]
KvKeyFileOption = Annotated[
    Path | None,
    typer.Option(help="File of the key that servers sharing prompts have in common."),
]
TpOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=64,
        help="Processes that compute one model, or one stage of it, together, each with a GPU.  [default: 1]",
    ),
]
SpOption = Annotated[
    bool | None,
    typer.Option(
        "--sp", help="Divide long prompts by tokens among the processes of --tp; takes memory."
    ),
]
PpOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=64,
        help="Stages that hold some layers of one model each, of --tp processes.  [default: 1]",
    ),
]
AllowAnonymousOption = Annotated[
    bool | None,
    typer.Option("--allow-anonymous", help="Let other machines use the server without an API key."),
]
CorsOriginOption = Annotated[
    list[str] | None,
    typer.Option(help="Origin of web pages that may call it; repeatable."),
]
ToolFormatOption = Annotated[
    str | None, typer.Option(help="Wire format of tool calls; default: by the chat template.")
]
KeyStoreOption = Annotated[
    Path | None,
    typer.Option(help="Folder of API keys, made by `intaglio keys create`."),
]
DeterministicOption = Annotated[
    bool | None, typer.Option(help="Make answers independent of the batch, bit for bit.")
]
TracesOption = Annotated[
    bool | None,
    typer.Option("--traces", help="Export spans by OTLP; needs the extra otel."),
]
AdapterOption = Annotated[
    list[str] | None,
    typer.Option(help="LoRA adapter that requests may name: NAME=PATH; repeatable."),
]
MaxAdaptersOption = Annotated[
    int | None,
    typer.Option(min=0, help="Adapters in use at the same time.  [default: those given]"),
]
AdapterRankOption = Annotated[
    int | None, typer.Option(min=1, help="Highest rank of an adapter.  [default: 16]")
]
