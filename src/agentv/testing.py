"""Fakes at our seams, for testing suites, plugins and AgentV itself.

from agentv import evaluate
from agentv.testing import ScriptedProvider

provider = ScriptedProvider({"greeting": "Hello!"})
run = evaluate("evals/first.eval.yaml", target=provider)
assert provider.requests[0].question == "Say hello."
"""

import contextlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from agentv.errors import ProviderError
from agentv.model.request import ProviderRequest, ProviderResponse

Reply = str | Exception | ProviderResponse


class ScriptedProvider:
    """A provider that answers from a script and remembers what it was asked.

    Args:
        script: Replies by case id, replies in order of the calls, or a function of the request. An
            exception in the script is raised in place of an answer.
    """

    def __init__(
        self,
        script: Mapping[str, Reply] | Sequence[Reply] | Callable[[ProviderRequest], Reply],
    ) -> None:
        self._script = script
        self.requests: list[ProviderRequest] = []
        """Every request, in the order in which it came."""

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The script's next answer; raises `ProviderError` when the script has none."""
        self.requests.append(request)
        reply = self._reply(request)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, ProviderResponse) else ProviderResponse(text=reply)

    def _reply(self, request: ProviderRequest) -> Reply:
        if callable(self._script):
            return self._script(request)
        try:
            if isinstance(self._script, Mapping):
                return self._script[request.eval_id]
            return self._script[len(self.requests) - 1]
        except LookupError:
            message = f"the script has no reply for '{request.eval_id}'"
            raise ProviderError(message, kind="script") from None


class Outcome(msgspec.Struct, frozen=True):
    """How a command line ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, read as the one JSON document it must be."""
        return json.loads(self.out)


class Project(msgspec.Struct, frozen=True):
    """A folder with files, in which command lines are run."""

    folder: Path

    def write(self, files: Mapping[str, str | bytes]) -> "Project":
        """Add files by their relative path."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self

    def run(self, *arguments: str) -> Outcome:
        """Run `agentv` with arguments, in this process and in the project's folder."""
        from agentv.cli.app import run

        out, err = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(list(arguments))
        return Outcome(code=code, out=out.getvalue(), err=err.getvalue())

    def rows(self, run: str | Path | None = None) -> list[dict[str, Any]]:
        """The rows of a run's folder; of the newest run when none is named."""
        folder = self._newest_run() if run is None else self.folder / run
        with (folder / "results.jsonl").open("rb") as lines:
            return [json.loads(line) for line in lines]

    def _newest_run(self) -> Path:
        from agentv.storage.finding import find_run

        return find_run("latest", self.folder / ".agentv" / "results").path
