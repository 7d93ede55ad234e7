"""Gemini's `…:streamGenerateContent?alt=sse` and `…:generateContent`, as Gemini's CLI uses them."""

from typing import Any

from agent_vendor.conversation import Call, Conversation, Say, Spent
from agent_vendor.printed import printed
from agent_vendor.wire import Json, Reply, pieces, words


class Gemini:
    """Parts go in; whole responses with some more parts come out."""

    def conversation(self, path: str, body: Json) -> Conversation:
        texts, results = [], []
        for content in body["contents"]:
            for part in content["parts"]:
                if "functionResponse" in part:
                    results.append(_result(part["functionResponse"]["response"]))
                elif content.get("role", "user") == "user" and "text" in part:
                    texts.append(part["text"])
        system = body.get("systemInstruction") or {"parts": []}
        offered = [one for tool in body.get("tools") or () for one in _declared(tool)]
        return Conversation(
            model=path.rpartition("/")[2].partition(":")[0],
            system=words(system["parts"]),
            texts=tuple(texts),
            results=tuple(results),
            tools={tool["name"]: _schema(tool) for tool in offered},
        )

    def streams(self, path: str, body: Json) -> bool:
        return path.endswith(":streamGenerateContent")

    def reply(self, model: str, turn: int, move: Say | Call) -> Reply:
        thoughts: list[Json] = []
        if move.thoughts:
            thoughts.append({"text": move.thoughts, "thought": True})
        usage = {"usageMetadata": _usage(move.spent)}
        head: Json = {"modelVersion": model, "responseId": f"response-{turn}"}
        if isinstance(move, Say):
            said: list[Json] = [{"text": piece} for piece in pieces(move.text)]
        else:
            call = {"name": move.tool, "args": dict(move.arguments)}
            said = [{"functionCall": call, "thoughtSignature": "c2lnbmVk"}]
        return Reply(
            events=(
                *({**head, **_candidate([part])} for part in (*thoughts, *said)),
                {**head, **_candidate([{"text": ""}], ended=True), **usage},
            ),
            whole={**head, **_candidate([*thoughts, *said], ended=True), **usage},
            named=False,
        )


def _candidate(parts: list[Json], *, ended: bool = False) -> Json:
    reason = {"finishReason": "STOP"} if ended else {}
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"content": content, "index": 0, **reason}]}


def _declared(tool: Json) -> list[Json]:
    declared: list[Json] = tool.get("functionDeclarations") or []
    return declared


def _schema(tool: Json) -> Json:
    schema: Json = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
    return schema


def _result(response: Any) -> str:
    return printed(str(response.get("output", response)))


def _usage(spent: Spent) -> Json:
    """Thoughts are counted apart here."""
    return {
        "promptTokenCount": spent.input,
        "cachedContentTokenCount": spent.cached,
        "candidatesTokenCount": spent.output - spent.reasoning,
        "thoughtsTokenCount": spent.reasoning,
        "totalTokenCount": spent.input + spent.output,
    }
