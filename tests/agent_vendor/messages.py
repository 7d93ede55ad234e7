"""Anthropic's `POST /v1/messages`, as Claude Code uses it."""

import json
from collections.abc import Iterator
from typing import Any

from agent_vendor.conversation import Call, Conversation, Say, Spent
from agent_vendor.wire import Json, Reply, pieces, words


class Messages:
    """Blocks of content go in and come out; a tool's result is a block of the user's."""

    def conversation(self, path: str, body: Json) -> Conversation:
        texts, results = [], []
        for message in body["messages"]:
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                if block["type"] == "tool_result":
                    results.append(words(block.get("content")))
                elif block["type"] == "text" and message["role"] == "user":
                    texts.append(block["text"])
        tools = [tool for tool in body.get("tools") or () if "input_schema" in tool]
        return Conversation(
            model=body["model"],
            system=words(body.get("system", "")),
            texts=tuple(texts),
            results=tuple(results),
            tools={tool["name"]: tool["input_schema"] for tool in tools},
        )

    def streams(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def reply(self, model: str, turn: int, move: Say | Call) -> Reply:
        ended = "end_turn" if isinstance(move, Say) else "tool_use"
        head: Json = {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "stop_sequence": None,
        }
        blocks = [_thinking(move.thoughts)] if move.thoughts else []
        blocks.append(_block(turn, move))
        usage = _usage(move.spent)
        known_so_far = {**usage, "output_tokens": 1}
        begun = {**head, "content": [], "stop_reason": None, "usage": known_so_far}
        delta = {"stop_reason": ended, "stop_sequence": None}
        return Reply(
            events=(
                {"type": "message_start", "message": begun},
                *(event for place, block in enumerate(blocks) for event in _events(place, block)),
                {"type": "message_delta", "delta": delta, "usage": usage},
                {"type": "message_stop"},
            ),
            whole={**head, "content": blocks, "stop_reason": ended, "usage": usage},
        )


def _thinking(text: str) -> Json:
    return {"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}


def _block(turn: int, move: Say | Call) -> Json:
    if isinstance(move, Say):
        return {"type": "text", "text": move.text}
    return {
        "type": "tool_use",
        "id": f"toolu_{turn}",
        "name": move.tool,
        "input": dict(move.arguments),
    }


def _events(place: int, block: Json) -> Iterator[Json]:
    begun, deltas = _begun(block)
    yield {"type": "content_block_start", "index": place, "content_block": begun}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": place, "delta": delta}
    yield {"type": "content_block_stop", "index": place}


def _begun(block: Json) -> tuple[Json, list[dict[str, Any]]]:
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
            return {**block, "text": ""}, deltas
        case "thinking":
            thoughts = pieces(block["thinking"])
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in thoughts]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
    arguments = pieces(json.dumps(block["input"]))
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in arguments]
    return {**block, "input": {}}, deltas


def _usage(spent: Spent) -> Json:
    """What came from the cache is counted apart here."""
    return {
        "input_tokens": spent.input - spent.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": spent.cached,
        "output_tokens": spent.output,
    }
