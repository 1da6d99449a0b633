"""The APIs that the gateway speaks, one small object each."""

from clawbench.gateway.dialects.anthropic import AnthropicMessages
from clawbench.gateway.dialects.chat import ChatCompletions
from clawbench.gateway.dialects.dialect import Dialect, Operation
from clawbench.gateway.dialects.google import GoogleGenerate
from clawbench.gateway.dialects.responses import Responses
from clawbench.models import ApiType

CHAT: Dialect = ChatCompletions()
RESPONSES: Dialect = Responses()
ANTHROPIC: Dialect = AnthropicMessages()
GOOGLE: Dialect = GoogleGenerate()

DIALECTS: dict[ApiType, Dialect] = {
    dialect.api_type: dialect for dialect in (CHAT, RESPONSES, ANTHROPIC, GOOGLE)
}

__all__ = ["ANTHROPIC", "CHAT", "DIALECTS", "GOOGLE", "RESPONSES", "Dialect", "Operation"]
