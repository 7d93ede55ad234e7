"""From a provider request to the messages that chat APIs take."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from agentv.core.chat_prompt import system_message
from agentv.core.question import marker
from agentv.model.base import Record
from agentv.model.request import ProviderRequest

_STAND_INS = (marker("system"), marker("tool"))
"""How turns begin that are an assistant's only because chat APIs know no others."""


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
    chat = request.chat_prompt or ()
    leading = [m.content for m in chat[:1] if m.role == "system"]
    if len(chat) > len(leading):  # APIs want somebody to speak besides the system
        own = [request.system_prompt] if request.system_prompt else []
        return Conversation(
            system="\n\n".join([*own, *leading]),
            messages=[
                ApiMessage(role="assistant" if m.role == "assistant" else "user", content=m.content)
                for m in chat[len(leading) :]
            ],
        )
    return Conversation(
        system=system_message([request.system_prompt or ""], request.guidelines),
        messages=[ApiMessage(role="user", content=request.question)],
    )


def asking(messages: Sequence[ApiMessage]) -> Sequence[ApiMessage]:
    """The messages for APIs that take a last turn of the assistant's for the answer's beginning.

    One that stands in for a tool's or a system's turn is then the user's: it is to be answered.
    """
    last = messages[-1]
    if last.role == "user" or not last.content.startswith(_STAND_INS):
        return messages
    return [*messages[:-1], msgspec.structs.replace(last, role="user")]
