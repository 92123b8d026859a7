"""The wire types of adapters: loading, and the list of those that requests may name."""

from typing import Literal

from pydantic import Field

from .base import MAX_NAME_CHARACTERS, Wire


class LoadAdapter(Wire):
    """Body of `POST /v1/adapters`."""

    name: str = Field(
        min_length=1,
        max_length=MAX_NAME_CHARACTERS,
        description="The name by which requests choose the adapter, in their field `model`.",
    )
    path: str = Field(
        min_length=1,
        max_length=4096,
        description="Absolute path of a folder with `adapter_config.json` and `adapter_model.safetensors`.",
    )


class AdapterCard(Wire):
    """An adapter that requests may name.

    `parent` is the model that it changes, `modules` the number of linear layers, `digest` that of its files. A `fixed`
    adapter was given at the start of the server.
    """

    id: str
    object: Literal["adapter"] = "adapter"
    parent: str
    path: str
    rank: int
    modules: int
    digest: str
    fixed: bool


class AdapterList(Wire):
    """Body of `GET /v1/adapters`."""

    object: Literal["list"] = "list"
    data: tuple[AdapterCard, ...]
