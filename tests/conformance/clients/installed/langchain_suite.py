"""LangChain's standard tests for chat models, through `langchain-openai`, where that is installed."""

import os
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestService(ChatModelIntegrationTests):
    """The service as a chat model with tools, choices of tools, schemas and JSON, without images and sound."""

    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"model": os.environ["CLIENTS_MODEL"], "stream_usage": True, "max_retries": 0}

    @property
    def chat_model_kwargs(self) -> dict[str, Any]:
        return {}

    @property
    def has_tool_choice(self) -> bool:
        return True

    @property
    def supports_json_mode(self) -> bool:
        return True

    @property
    def supports_model_override(self) -> bool:
        return False
