"""The chat prompt: a conversation as messages, for providers that take them.

One leading system message holds the case's system text and then the guidelines. Chat APIs know no
system or tool turns later on, so these become assistant turns that begin with their marker; turns
that say nothing once guidelines are taken out vanish.
"""

from collections.abc import Iterable, Sequence
from itertools import takewhile

from agentv.core.placing import place_in_turn
from agentv.core.question import is_visible, marker, render
from agentv.model.options import PromptMode
from agentv.model.request import ChatMessage, Turn

GUIDELINES_HEADING = "[[ ## Guidelines ## ]]"


def format_chat_prompt(
    turns: Sequence[Turn], guidelines: str, mode: PromptMode
) -> tuple[ChatMessage, ...]:
    """The turns as chat messages, in their order."""
    leading = list(takewhile(lambda turn: turn.role == "system", turns))
    system = system_message(_texts(leading, mode), guidelines)
    later = (_message(turn, mode) for turn in turns[len(leading) :] if is_visible(turn))
    return (*([ChatMessage(role="system", content=system)] if system else []), *later)


def system_message(texts: Iterable[str], guidelines: str) -> str:
    """System texts, then the guidelines under their heading; empty if there is neither."""
    section = f"{GUIDELINES_HEADING}\n\n{guidelines}" if guidelines else ""
    return "\n\n".join(text for text in (*texts, section) if text)


def _texts(turns: Iterable[Turn], mode: PromptMode) -> Iterable[str]:
    return ("\n".join(render(turn.segments, mode)) for turn in turns if is_visible(turn))


def _message(turn: Turn, mode: PromptMode) -> ChatMessage:
    parts = render(turn.segments, mode)
    if turn.role in ("system", "tool"):
        return ChatMessage(role="assistant", content="\n".join([marker(turn.role), *parts]))
    # Chat APIs show a model what users send, and nothing that others do.
    media = place_in_turn(turn, mode) if turn.role == "user" else ()
    return ChatMessage(role=turn.role, content="\n".join(parts), media=media)
