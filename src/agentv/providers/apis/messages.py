"""From a provider request to the messages that chat APIs take."""

from collections.abc import Sequence
from typing import Literal

from agentv.core.chat_prompt import system_message
from agentv.model.base import Record
from agentv.model.request import ProviderRequest


class ApiMessage(Record, frozen=True, kw_only=True):
    """One message; chat APIs know these two roles besides the system text."""

    role: Literal["user", "assistant"]
    content: str


class Conversation(Record, frozen=True, kw_only=True):
    """What is sent: one system text, then the messages in their order."""

    system: str
    """Empty if there is none."""
    messages: Sequence[ApiMessage]


def conversation_of(request: ProviderRequest) -> Conversation:
    """A chat prompt as it is; a single turn as one user message.

    The system text of a single turn is the system prompt (a judge's) and then the guidelines.
    """
    if request.chat_prompt:
        leading = [m.content for m in request.chat_prompt[:1] if m.role == "system"]
        own = [request.system_prompt] if request.system_prompt else []
        return Conversation(
            system="\n\n".join([*own, *leading]),
            messages=[
                ApiMessage(role="assistant" if m.role == "assistant" else "user", content=m.content)
                for m in request.chat_prompt[len(leading) :]
            ],
        )
    return Conversation(
        system=system_message([request.system_prompt or ""], request.guidelines),
        messages=[ApiMessage(role="user", content=request.question)],
    )
