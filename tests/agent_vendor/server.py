"""The server: reads a request, asks the script what happens next, and streams it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from agent_vendor.chat import Chat
from agent_vendor.conversation import Conversation, Move, Script
from agent_vendor.gemini import Gemini
from agent_vendor.messages import Messages
from agent_vendor.responses import Responses
from agent_vendor.shell_tool import in_tools
from agent_vendor.wire import Reply, Wire
from vendor.dialects import Dialect, dialect_of
from vendor.faults import Fault
from vendor.loopback import Loopback, transport_of

_WIRES: Mapping[str, Wire] = {
    "/v1/responses": Responses(),
    "/v1/chat/completions": Chat(),
    "/v1/messages": Messages(),
    ":streamGenerateContent": Gemini(),
    ":generateContent": Gemini(),
}
_TOKENS = "/v1/messages/count_tokens"


@dataclass(frozen=True, kw_only=True)
class AgentAsked:
    """One request for a model's turn."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    conversation: Conversation
    move: Move | Fault
    """What the script said to it."""


class AgentVendor(Loopback):
    """A model for agents, which does what a script says.

    Args:
        script: Its next move, or what goes wrong with the request.
        key: The only API key that is taken.
    """

    def __init__(self, script: Script, *, key: str = "agent-vendor-key-0123456789") -> None:
        super().__init__()
        self.key = key
        self.asked: list[AgentAsked] = []
        """Every request for a turn with a right key, in the order in which it came."""
        self.refused_keys = 0
        """How often a wrong key came."""
        self.elsewhere: list[str] = []
        """What else was requested: method and path."""
        self._script = script

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        text = await request.read()
        dialect, wire = dialect_of(request.path), _wire(request.path)
        if dialect is None or wire is None or request.method != "POST":
            return self._elsewhere(request)
        headers = {name.lower(): value for name, value in request.headers.items()}
        if dialect.key(headers) != self.key:
            self.refused_keys += 1
            return web.json_response(dialect.error(401, "Incorrect API key provided"), status=401)
        body = json.loads(text)
        conversation = wire.conversation(request.path, body)
        # A script may take its time over a large answer; other conversations go on meanwhile.
        move = await asyncio.to_thread(self._script, conversation)
        self.asked.append(
            AgentAsked(
                path=request.path, headers=headers, body=body, conversation=conversation, move=move
            )
        )
        if isinstance(move, Fault):
            return await self._fail(request, dialect, move)
        turn = len(conversation.results)
        reply = wire.reply(conversation.model, turn, in_tools(move, conversation))
        if not wire.streams(request.path, body):
            return web.json_response(reply.whole)
        return await _stream(request, reply)

    def _elsewhere(self, request: web.BaseRequest) -> web.Response:
        self.elsewhere.append(f"{request.method} {request.path}")
        if request.path == _TOKENS:
            return web.json_response({"input_tokens": 101})
        return web.json_response({"error": {"message": "no such page"}}, status=404)

    async def _fail(
        self, request: web.BaseRequest, dialect: Dialect, fault: Fault
    ) -> web.StreamResponse:
        match fault.kind:
            case "status":
                said = dialect.error(fault.status, fault.message)
                return web.json_response(said, status=fault.status, headers=fault.headers)
            case "reset":
                transport_of(request).abort()
            case "hang":
                await self.hang()
            case kind:
                raise NotImplementedError(kind)
        return web.Response()


def _wire(path: str) -> Wire | None:
    return next((wire for end, wire in _WIRES.items() if path.endswith(end)), None)


async def _stream(request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
    response = web.StreamResponse(
        headers={"content-type": "text/event-stream", "cache-control": "no-cache"}
    )
    await response.prepare(request)
    try:
        for event in reply.events:
            name = f"event: {event['type']}\n" if reply.named else ""
            await response.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        if reply.done is not None:
            await response.write(f"data: {reply.done}\n\n".encode())
    except ConnectionError:  # The agent was ended meanwhile.
        pass
    return response
