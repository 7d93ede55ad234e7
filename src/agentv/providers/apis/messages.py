"""From a provider request to the messages that chat APIs take."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from agentv.core.chat_prompt import system_message
from agentv.core.placing import pieces
from agentv.core.question import marker
from agentv.model.base import Record
from agentv.model.request import MediaFile, PlacedMedia, ProviderRequest
from agentv.providers.apis.media import MediaLimits, check_media
from agentv.providers.apis.wire import Json

_STAND_INS = (marker("system"), marker("tool"))
"""How turns begin that are an assistant's only because chat APIs know no others."""


class ApiMessage(Record, frozen=True, kw_only=True):
    """One message; chat APIs know these two roles besides the system text."""

    role: Literal["user", "assistant"]
    content: str
    media: tuple[PlacedMedia, ...] = ()

    @property
    def pieces(self) -> Sequence[str | PlacedMedia]:
        """The content, cut where its images and PDFs belong, with these in between."""
        return pieces(self.content, self.media) if self.media else [self.content]

    def parts(self, text: Callable[[str], Json], media: Callable[[MediaFile], Json]) -> list[Json]:
        """The content as an API writes its parts."""
        return [text(it) if isinstance(it, str) else media(it) for it in self.pieces]

    def text_or_parts(
        self, text: Callable[[str], Json], media: Callable[[MediaFile], Json]
    ) -> str | list[Json]:
        """The content as it is where it is all text, else as parts."""
        return self.parts(text, media) if self.media else self.content


class Conversation(Record, frozen=True, kw_only=True):
    """What is sent: one system text, then the messages in their order."""

    system: str
    """Empty if there is none."""
    messages: Sequence[ApiMessage]


def conversation_of(request: ProviderRequest, limits: MediaLimits | None = None) -> Conversation:
    """A chat prompt as it is; a single turn as one user message.

    The system text of a single turn is the system prompt (a judge's) and then the guidelines.

    Raises:
        ProviderError: It has an image or a PDF that is beyond the limits.
    """
    if request.media and limits is not None:
        check_media(request.media, request.question + request.guidelines, limits)
    chat = request.chat_prompt or ()
    leading = [m.content for m in chat[:1] if m.role == "system"]
    if len(chat) > len(leading):  # APIs want somebody to speak besides the system
        own = [request.system_prompt] if request.system_prompt else []
        return Conversation(
            system="\n\n".join([*own, *leading]),
            messages=[
                ApiMessage(
                    role="assistant" if m.role == "assistant" else "user",
                    content=m.content,
                    media=m.media,
                )
                for m in chat[len(leading) :]
            ],
        )
    return Conversation(
        system=system_message([request.system_prompt or ""], request.guidelines),
        messages=[ApiMessage(role="user", content=request.question, media=request.media)],
    )


def asking(messages: Sequence[ApiMessage]) -> Sequence[ApiMessage]:
    """The messages for APIs that take a last turn of the assistant's for the answer's beginning.

    One that stands in for a tool's or a system's turn is then the user's: it is to be answered.
    """
    last = messages[-1]
    if last.role == "user" or not last.content.startswith(_STAND_INS):
        return messages
    return [*messages[:-1], msgspec.structs.replace(last, role="user")]
