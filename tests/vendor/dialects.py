"""The protocols that the vendor speaks, each as the vendor of that name documents it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

USAGE = (11, 3, 7)
"""Input tokens, how many of these came from a cache, output tokens."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A request in words."""

    model: str
    system: str
    texts: tuple[str, ...]
    """Of the messages in their order."""

    @property
    def text(self) -> str:
        """All that is asked."""
        return "\n".join((self.system, *self.texts))


class OpenAiChat:
    """`POST /v1/chat/completions`."""

    def key(self, headers: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def question(self, path: str, body: Json) -> Question:
        messages = body["messages"]
        first = [m for m in messages if m["role"] in ("system", "developer")]
        return Question(
            model=body.get("model", ""),
            system="\n".join(_text(message["content"]) for message in first),
            texts=tuple(_text(m["content"]) for m in messages if m not in first),
        )

    def answer(self, question: Question, text: str) -> Json:
        given, cached, made = USAGE
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": question.model,
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "refusal": None},
                    "logprobs": None,
                    "finish_reason": "stop",
                }
            ],
            "usage": {
                "prompt_tokens": given,
                "completion_tokens": made,
                "total_tokens": given + made,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        }

    def cut_off(self, answer: Json) -> Json:
        [choice] = answer["choices"]
        return {**answer, "choices": [{**choice, "finish_reason": "length"}]}

    def error(self, status: int, message: str) -> Json:
        kind = "invalid_request_error" if status < 429 else "server_error"
        code = {401: "invalid_api_key", 429: "rate_limit_exceeded"}.get(status)
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}


class OpenAiResponses(OpenAiChat):
    """`POST /v1/responses`."""

    def question(self, path: str, body: Json) -> Question:
        given = body["input"]
        messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
        return Question(
            model=body.get("model", ""),
            system=body.get("instructions") or "",
            texts=tuple(_text(message["content"]) for message in messages),
        )

    def answer(self, question: Question, text: str) -> Json:
        given, cached, made = USAGE
        part = {"type": "output_text", "text": text, "annotations": []}
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1_700_000_000,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "model": question.model,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": [
                {
                    "type": "message",
                    "id": "msg_1",
                    "status": "completed",
                    "role": "assistant",
                    "content": [part],
                }
            ],
            "usage": {
                "input_tokens": given,
                "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
                "output_tokens": made,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": given + made,
            },
        }

    def cut_off(self, answer: Json) -> Json:
        why = {"reason": "max_output_tokens"}
        return {**answer, "status": "incomplete", "incomplete_details": why}


class AzureChat(OpenAiChat):
    """`POST /openai/deployments/{name}/chat/completions?api-version=…`, `/openai/v1/…`."""

    def key(self, headers: Mapping[str, str]) -> str:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return headers.get("api-key", bearer)

    def question(self, path: str, body: Json) -> Question:
        _, is_dated, below = path.partition("/deployments/")
        named = {"model": below.split("/")[0]} if is_dated else {}
        return super().question(path, {**body, **named})


class AzureResponses(OpenAiResponses):
    """`POST /openai/responses?api-version=…` and `POST /openai/v1/responses`."""

    def key(self, headers: Mapping[str, str]) -> str:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return headers.get("api-key", bearer)


class AnthropicMessages:
    """`POST /v1/messages`."""

    def key(self, headers: Mapping[str, str]) -> str:
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        return headers.get("x-api-key", bearer) if headers.get("anthropic-version") else ""

    def question(self, path: str, body: Json) -> Question:
        assert body["max_tokens"] > 0
        return Question(
            model=body["model"],
            system=_text(body.get("system", "")),
            texts=tuple(_text(message["content"]) for message in body["messages"]),
        )

    def answer(self, question: Question, text: str) -> Json:
        given, cached, made = USAGE
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": question.model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": given - cached,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": cached,
                "output_tokens": made,
            },
        }

    def cut_off(self, answer: Json) -> Json:
        return {**answer, "stop_reason": "max_tokens"}

    def error(self, status: int, message: str) -> Json:
        kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
        kind = kinds.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


class GeminiContent:
    """`POST /v1beta/models/{model}:generateContent`."""

    def key(self, headers: Mapping[str, str]) -> str:
        return headers.get("x-goog-api-key", "")

    def question(self, path: str, body: Json) -> Question:
        system = body.get("systemInstruction") or body.get("system_instruction") or {"parts": []}
        return Question(
            model=path.rpartition("/")[2].partition(":")[0],
            system=_text(system["parts"]),
            texts=tuple(_text(content["parts"]) for content in body["contents"]),
        )

    def answer(self, question: Question, text: str) -> Json:
        given, cached, made = USAGE
        return {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": text}]},
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": given,
                "cachedContentTokenCount": cached,
                "candidatesTokenCount": made,
                "totalTokenCount": given + made,
            },
            "modelVersion": question.model,
            "responseId": "response-1",
        }

    def cut_off(self, answer: Json) -> Json:
        [candidate] = answer["candidates"]
        return {**answer, "candidates": [{**candidate, "finishReason": "MAX_TOKENS"}]}

    def error(self, status: int, message: str) -> Json:
        names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
        name = names.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": name}}


Dialect = OpenAiChat | AnthropicMessages | GeminiContent


def dialect_of(path: str) -> Dialect | None:
    """Who is spoken to at a path."""
    return next((dialect for here, dialect in _matches(path) if here), None)


def _matches(path: str) -> Iterator[tuple[bool, Dialect]]:
    azure = "/openai/" in path
    yield azure and path.endswith("/chat/completions"), AzureChat()
    yield azure and path.endswith("/responses"), AzureResponses()
    yield path.endswith("/v1/chat/completions"), OpenAiChat()
    yield path.endswith("/v1/responses"), OpenAiResponses()
    yield path.endswith("/v1/messages"), AnthropicMessages()
    yield path.endswith((":generateContent", ":streamGenerateContent")), GeminiContent()


def _text(content: Any) -> str:
    """The words in a string or in a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
