"""OpenAI's `POST /v1/chat/completions`, as opencode and pi use it."""

import json
from collections.abc import Iterator
from typing import Any

from agent_vendor.conversation import Call, Conversation, Say, Spent
from agent_vendor.wire import Json, Reply, pieces, words


class Chat:
    """Messages go in; pieces of one message come out, and the usage last."""

    def conversation(self, path: str, body: Json) -> Conversation:
        messages = body["messages"]
        tools = [tool["function"] for tool in body.get("tools") or ()]
        return Conversation(
            model=body.get("model", ""),
            system="\n".join(_of(messages, "system", "developer")),
            texts=tuple(_of(messages, "user")),
            results=tuple(_of(messages, "tool")),
            tools={tool["name"]: tool.get("parameters") or {} for tool in tools},
        )

    def streams(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def reply(self, model: str, turn: int, move: Say | Call) -> Reply:
        ended = "stop" if isinstance(move, Say) else "tool_calls"
        head = {"id": f"chatcmpl-{turn}", "created": 1_700_000_000, "model": model}
        chunk = {**head, "object": "chat.completion.chunk"}
        deltas = [{"role": "assistant", "content": ""}, *_deltas(turn, move)]
        usage = _usage(move.spent)
        return Reply(
            events=(
                *({**chunk, "choices": [_choice("delta", delta, None)]} for delta in deltas),
                {**chunk, "choices": [_choice("delta", {}, ended)]},
                {**chunk, "choices": [], "usage": usage},
            ),
            whole={
                **head,
                "object": "chat.completion",
                "choices": [_choice("message", _message(turn, move), ended)],
                "usage": usage,
            },
            named=False,
            done="[DONE]",
        )


def _of(messages: list[Json], *roles: str) -> Iterator[str]:
    return (words(message["content"]) for message in messages if message["role"] in roles)


def _choice(name: str, value: Json, ended: str | None) -> Json:
    return {"index": 0, name: value, "logprobs": None, "finish_reason": ended}


def _message(turn: int, move: Say | Call) -> Json:
    message: Json = {"role": "assistant", "content": None}
    if move.thoughts:
        message["reasoning_content"] = move.thoughts
    if isinstance(move, Say):
        return {**message, "content": move.text}
    return {**message, "tool_calls": [_call(turn, move, json.dumps(dict(move.arguments)))]}


def _deltas(turn: int, move: Say | Call) -> Iterator[Json]:
    for piece in pieces(move.thoughts or ""):
        yield {"reasoning_content": piece}
    if isinstance(move, Say):
        yield from ({"content": piece} for piece in pieces(move.text))
        return
    yield {"tool_calls": [{"index": 0, **_call(turn, move, "")}]}
    for piece in pieces(json.dumps(dict(move.arguments))):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _call(turn: int, move: Call, arguments: str) -> dict[str, Any]:
    function = {"name": move.tool, "arguments": arguments}
    return {"id": f"call_{turn}", "type": "function", "function": function}


def _usage(spent: Spent) -> Json:
    return {
        "prompt_tokens": spent.input,
        "completion_tokens": spent.output,
        "total_tokens": spent.input + spent.output,
        "prompt_tokens_details": {"cached_tokens": spent.cached},
        "completion_tokens_details": {"reasoning_tokens": spent.reasoning},
    }
