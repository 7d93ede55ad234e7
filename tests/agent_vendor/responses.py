"""OpenAI's `POST /v1/responses`, as Codex and Copilot use it."""

import json
from collections.abc import Iterator
from typing import Any

from agent_vendor.conversation import Call, Conversation, Say, Spent
from agent_vendor.printed import printed
from agent_vendor.wire import Json, Reply, pieces, words


class Responses:
    """Items go in and come out; each is announced, streamed and closed."""

    def conversation(self, path: str, body: Json) -> Conversation:
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        system = [body.get("instructions") or ""]
        texts, results = [], []
        for item in items:
            if item.get("type", "").endswith("_call_output"):
                results.append(printed(words(item["output"])))
            elif item.get("role") == "user":
                texts.append(words(item["content"]))
            elif item.get("role") in ("system", "developer"):
                system.append(words(item["content"]))
        tools = [tool for tool in body.get("tools", ()) if tool.get("type") == "function"]
        return Conversation(
            model=body.get("model", ""),
            system="\n".join(system),
            texts=tuple(texts),
            results=tuple(results),
            tools={tool["name"]: tool.get("parameters") or {} for tool in tools},
        )

    def streams(self, path: str, body: Json) -> bool:
        return bool(body.get("stream"))

    def reply(self, model: str, turn: int, move: Say | Call) -> Reply:
        items = [_thoughts(turn, move.thoughts)] if move.thoughts else []
        items.append(_item(turn, move))
        begun = _response(model, turn, "in_progress", [], None)
        whole = _response(model, turn, "completed", items, _usage(move.spent))
        events = [
            {"type": "response.created", "response": begun},
            *(event for place, item in enumerate(items) for event in _item_events(place, item)),
            {"type": "response.completed", "response": whole},
        ]
        numbered = (dict(event, sequence_number=n) for n, event in enumerate(events))
        return Reply(events=tuple(numbered), whole=whole)


def _response(model: str, turn: int, status: str, items: list[Json], usage: Any) -> Json:
    return {
        "id": f"resp_{turn}",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": items,
        "usage": usage,
    }


def _thoughts(turn: int, text: str) -> Json:
    summary = [{"type": "summary_text", "text": text}]
    return {"type": "reasoning", "id": f"rs_{turn}", "summary": summary}


def _item(turn: int, move: Say | Call) -> Json:
    if isinstance(move, Say):
        part = {"type": "output_text", "text": move.text, "annotations": []}
        return {
            "type": "message",
            "id": f"msg_{turn}",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
    return {
        "type": "function_call",
        "id": f"fc_{turn}",
        "status": "completed",
        "call_id": f"call_{turn}",
        "name": move.tool,
        "arguments": json.dumps(dict(move.arguments)),
    }


def _item_events(place: int, item: Json) -> Iterator[Json]:
    at = {"output_index": place}
    begun = dict(item)
    inside: Iterator[Json] = iter(())
    here = {**at, "item_id": item["id"]}
    match item["type"]:
        case "message":
            begun["content"] = []
            inside = _message_events({**here, "content_index": 0}, item["content"][0])
        case "reasoning":
            begun["summary"] = []
            inside = _thought_events({**here, "summary_index": 0}, item["summary"][0])
        case "function_call":
            begun["arguments"] = ""
            inside = _argument_events(here, item["arguments"])
    yield {"type": "response.output_item.added", **at, "item": begun}
    yield from inside
    yield {"type": "response.output_item.done", **at, "item": item}


def _message_events(here: Json, part: Json) -> Iterator[Json]:
    yield {"type": "response.content_part.added", **here, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.output_text.delta", **here, "delta": piece}
    yield {"type": "response.output_text.done", **here, "text": part["text"]}
    yield {"type": "response.content_part.done", **here, "part": part}


def _thought_events(here: Json, part: Json) -> Iterator[Json]:
    kind = "response.reasoning_summary"
    yield {"type": f"{kind}_part.added", **here, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": f"{kind}_text.delta", **here, "delta": piece}
    yield {"type": f"{kind}_text.done", **here, "text": part["text"]}
    yield {"type": f"{kind}_part.done", **here, "part": part}


def _argument_events(here: Json, arguments: str) -> Iterator[Json]:
    kind = "response.function_call_arguments"
    for piece in pieces(arguments):
        yield {"type": f"{kind}.delta", **here, "delta": piece}
    yield {"type": f"{kind}.done", **here, "arguments": arguments}


def _usage(spent: Spent) -> Json:
    return {
        "input_tokens": spent.input,
        "input_tokens_details": {"cached_tokens": spent.cached},
        "output_tokens": spent.output,
        "output_tokens_details": {"reasoning_tokens": spent.reasoning},
        "total_tokens": spent.input + spent.output,
    }
