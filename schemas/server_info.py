"""The wire types of a server's description: models, health and version."""

from typing import Literal

from .base import Wire


class ModelCard(Wire):
    """One entry of `GET /v1/models`. `parent` is the model that an adapter changes, `digest` that of its files.
    `reads_images`: whether requests may have images.
    """

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "intaglio"
    context_length: int
    parameters: int
    parent: str | None = None
    digest: str | None = None
    reads_images: bool = False


class ModelList(Wire):
    """Body of `GET /v1/models`."""

    object: Literal["list"] = "list"
    data: tuple[ModelCard, ...]


class Health(Wire):
    """Body of `GET /health` and `GET /ready`."""

    status: Literal["ok", "loading model", "stopping", "engine down"]


class Version(Wire):
    """Body of `GET /version`."""

    version: str
    model: str
