"""A language model for VS Code's chat, on loopback: it does what the subagent protocol asks for.

It speaks OpenAI's chat completions and calls VS Code's own tools: `read_file` on the request, then
`create_file` with the answer; for a batch `runSubagent`, once for each request of the list. Its
answers are worked out from the requests that it has read, so a right one proves the whole way there
and back.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

MODEL_NAME = "Loopback model"
"""What VS Code calls it."""

_WAKEUP = re.compile(r"file named \.alive, at (/\S+?/\.alive)\b")
_REQUEST = re.compile(r"file://(/[^)\s\"\\]+_req\.md)")
_LIST = re.compile(r"file://(/[^)\s\"\\]+_orchestrator\.md)")
_LISTED = re.compile(r"\d+\. (/\S+_req\.md) -> ")
_ANSWER = re.compile(r"(/[^\s\"\\]+_res\.md)")
_SUM = re.compile(r"What is (\d+) \+ (\d+)\?")


@contextmanager
def serving(seen: list[dict[str, Any]]) -> Iterator[str]:
    """The address of a model; what it is asked is added to `seen`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(seen))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    finally:
        server.shutdown()
        server.server_close()


def next_step(body: dict[str, Any]) -> tuple[str, dict[str, Any]] | str:
    """The tool to call, with its arguments; or what is said when nothing is left to do."""
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    if not {"create_file", "read_file"} <= tools:
        return "A chat."  # the title of a chat, say
    messages = body["messages"]
    last = max(place for place, one in enumerate(messages) if one["role"] == "user")
    said = _text(messages[last])
    results = [_text(one) for one in messages[last:] if one["role"] == "tool"]
    if found := _WAKEUP.findall(said):
        if not results:
            return "create_file", {"filePath": found[-1], "content": ""}
        return "Awake."
    if listed := _LIST.findall(said):
        return _next_of_batch(listed[-1], results)
    request = _REQUEST.findall(said)
    if not request or len(results) > 1:
        return "Done."
    if not results:
        return _reading(request[-1])
    sums, answers = _SUM.search(results[0]), _ANSWER.findall(results[0])
    answer = f"It is {int(sums[1]) + int(sums[2])}." if sums else "I do not know."
    return "create_file", {"filePath": answers[-1], "content": answer}


def _next_of_batch(listed: str, results: list[str]) -> tuple[str, dict[str, Any]] | str:
    if not results:
        return _reading(listed)
    requests = _LISTED.findall(results[0])
    place = len(results) - 1
    if place >= len(requests):
        return "Every request has been handed out."
    prompt = f"Follow the instructions in file://{requests[place]} and stop."
    return "runSubagent", {"prompt": prompt, "description": f"Request {place + 1}"}


def _reading(file: str) -> tuple[str, dict[str, Any]]:
    return "read_file", {"filePath": file, "startLine": 1, "endLine": 500}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _handler(seen: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            step = next_step(body)
            last = body["messages"][-1]
            seen.append({"step": step, "last": last, "tools": len(body.get("tools", ()))})
            if body.get("stream"):
                self._reply("text/event-stream", "".join(_events(body, step)))
            else:
                self._reply("application/json", json.dumps(_whole(body, step)))

        def log_message(self, *words: object) -> None:
            """Say nothing."""

        def _reply(self, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


def _message(step: tuple[str, dict[str, Any]] | str) -> dict[str, Any]:
    if isinstance(step, str):
        return {"role": "assistant", "content": step}
    name, arguments = step
    call = {
        "index": 0,
        "id": f"call_{name}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _end(step: tuple[str, dict[str, Any]] | str) -> str:
    return "stop" if isinstance(step, str) else "tool_calls"


_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def _events(body: dict[str, Any], step: tuple[str, dict[str, Any]] | str) -> Iterator[str]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    for choices, more in (
        ([{"index": 0, "delta": _message(step), "finish_reason": None}], {}),
        ([{"index": 0, "delta": {}, "finish_reason": _end(step)}], {}),
        ([], {"usage": _USAGE}),
    ):
        yield f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n"
    yield "data: [DONE]\n\n"


def _whole(body: dict[str, Any], step: tuple[str, dict[str, Any]] | str) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(step), "finish_reason": _end(step)}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"]}
    return {**head, "choices": [choice], "usage": _USAGE}
