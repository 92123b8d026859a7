"""Verbatim strings through the service: offline, over HTTP, in a stream, in examples, and in a chat."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.api import EngineConfig, Launch, SamplingParams, launch_of
from intaglio.grammar.api import Constraint, Kind
from intaglio.service.client import BadRequest, SchemaRefused
from intaglio.service.errors import InvalidOutput
from intaglio.service.extraction.validate import check, faults
from intaglio.service.offline.llm import LLM

from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

TEXT = "Shipped by Ünal & Söhne,\nBerlin 🙂 \"express\" on 2026-03-12."
NAME: dict[str, Any] = {"type": "string", "minLength": 1, "x-intaglio": {"verbatim": True}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": NAME, "tags": {"type": "array", "items": NAME, "maxItems": 2}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}
