"""The story of a request: claim a worker, write the request, hand it over, wait for the answer."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from agentv.core.preread import preread_document
from agentv.errors import AuthorError, ProviderError, ProviderTimeout, RunAborted
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import ProviderBuild
from agentv.providers.vscode.answer import SETTLE_SECONDS, AnswerFile
from agentv.providers.vscode.editor import Editor, Timing
from agentv.providers.vscode.executable import default_executable, find_executable
from agentv.providers.vscode.options import VsCodeOptions
from agentv.providers.vscode.polling import until
from agentv.providers.vscode.pool import Pool
from agentv.providers.vscode.request_file import Delivery, orchestrator_text, request_text
from agentv.providers.vscode.worker import Message, Worker, default_root
from agentv.providers.vscode.workspace_file import workspace_text

_DEFAULT_SECONDS = 600.0


class VsCodeProvider:
    """Asks VS Code's agent: one worker, with a window of its own, for each request in flight.

    Args:
        options: The target's.
        build: What it is given.
        timing: How long VS Code itself may take.
        settle: How many seconds an answer's file must not have changed.
    """

    def __init__(
        self,
        options: VsCodeOptions,
        build: ProviderBuild,
        *,
        timing: Timing | None = None,
        settle: float = SETTLE_SECONDS,
    ) -> None:
        self._options = options
        self._build = build
        self._settle = settle
        self._limit = options.timeout_seconds or _DEFAULT_SECONDS
        self._template = _template_of(options, build)
        workspace_text(self._template)  # a mistake in it must not wait for the first case
        self._pool = Pool(_root_of(options, build), _list_command(options), build.notify)
        self._editor = Editor(
            executable=_executable_of(options, build),
            env=build.env,
            processes=build.processes,
            timing=timing or Timing(),
        )
        self._in_flight = 0
        self._has_warned = False

    async def prepare(self) -> None:
        """Make the first worker if there is none, and say how many requests can be in flight.

        Raises:
            RunAborted: There can be no worker.
        """
        if self._options.dry_run:
            return
        try:
            self._warn_of_turns(self._options.workers or 1)
        except ProviderError as error:
            raise RunAborted(f"Target '{self._options.name}': {error}") from error

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """The agent's answer, read from the file that it was asked to write."""
        if self._options.dry_run:
            return self._rehearsed()
        self._in_flight += 1
        self._warn_of_turns(self._in_flight)
        try:
            async with self._pool.claimed(within=self._limit) as worker:
                message = worker.new_message(_now())
                self._write(worker, request, message)
                await self._hand_over(worker, message.request, request.input_files)
                return ProviderResponse(text=await self._answer(worker, message))
        finally:
            self._in_flight -= 1

    async def respond_batch(
        self, requests: Sequence[ProviderRequest]
    ) -> Sequence[ProviderResponse | ProviderError | None]:
        """All requests through one worker, each answered by a subagent of its own.

        Every answer has the target's time limit, counted from the one before it; those that have
        not come by then are errors.
        """
        if self._options.dry_run:
            return [self._rehearsed() for _ in requests]
        async with self._pool.claimed(within=self._limit) as worker:
            batch = worker.new_batch(_now(), len(requests))
            for request, message in zip(requests, batch.messages, strict=True):
                self._write(worker, request, message)
            batch.orchestrator.write_text(orchestrator_text(batch.messages), "utf-8")
            files = dict.fromkeys(file for request in requests for file in request.input_files)
            await self._hand_over(
                worker, batch.orchestrator, tuple(files), "Use the #runSubagent tool."
            )
            return await self._answers(batch.messages)

    def _write(self, worker: Worker, request: ProviderRequest, message: Message) -> None:
        guidelines = request.guideline_paths
        document = preread_document(
            request.question,
            guidelines=guidelines,
            files=[file for file in request.input_files if file not in guidelines],
            system_prompt=request.system_prompt,
        )
        try:
            worker.workspace.write_text(workspace_text(self._template), "utf-8")
            message.request.write_text(request_text(document, message, _delivery()), "utf-8")
        except OSError as error:
            text = f"the request cannot be written to '{worker.folder}': {error.strerror}"
            raise ProviderError(text, kind="spawn") from error

    async def _hand_over(
        self, worker: Worker, file: Path, attached: Sequence[str], more: str = ""
    ) -> None:
        """Bring the worker's window up and point its chat to a file."""
        text = f"Follow the instructions in [{file.name}]({file.as_uri()}). {more}".rstrip()
        # VS Code's tools refuse to read outside the workspace what is not attached.
        files = [str(file), *attached]
        async with self._editor.turn(within=self._limit):
            await self._editor.make_ready(worker, within=self._options.wakeup_timeout_seconds)
            await self._editor.chat(worker, self._options.mode, files, text)

    async def _answer(self, worker: Worker, message: Message) -> str:
        file = AnswerFile(message.answer, self._settle)
        answer = await until(file.look, within=self._limit)
        if answer is None:
            raise ProviderTimeout(
                f"no answer within {self._limit:g} s",
                detail=f"The request is {message.request}. Look at the window of {worker.name}: "
                "its chat may wait for a permission.",
            )
        return answer

    async def _answers(
        self, messages: Sequence[Message]
    ) -> list[ProviderResponse | ProviderError | None]:
        waiting = {number: AnswerFile(m.answer, self._settle) for number, m in enumerate(messages)}
        outcomes: list[ProviderResponse | ProviderError | None] = [
            ProviderError(
                f"no answer in the batch, {self._limit:g} s after the one before it",
                kind="no_answer",
                detail=f"The request is {message.request}.",
            )
            for message in messages
        ]
        while waiting:
            found = await until(partial(_newly_answered, waiting), within=self._limit)
            if found is None:
                break
            for number, outcome in found.items():
                outcomes[number] = outcome
                del waiting[number]
        return outcomes

    def _rehearsed(self) -> ProviderResponse:
        """What would have been used, with nothing written and nobody asked."""
        worker = self._pool.would_claim()
        message = worker.new_message(_now())
        return ProviderResponse(
            text="",
            dry_run=True,
            trace=[
                {
                    "type": "dry_run",
                    "provider": self._options.provider,
                    "executable": self._editor.executable,
                    "mode": self._options.mode,
                    "worker": worker.name,
                    "workspace": str(worker.workspace),
                    "workspace_template": str(self._template) if self._template else None,
                    "request_file": str(message.request),
                    "response_file": str(message.answer),
                }
            ],
        )

    def _warn_of_turns(self, wanted: int) -> None:
        """Once: more requests at a time than there are windows is no mistake, but no gain."""
        if self._has_warned or wanted <= (there := len(self._pool.workers())):
            return
        self._has_warned = True
        have = "1 VS Code worker" if there == 1 else f"{there} VS Code workers"
        self._build.warn(
            f"target '{self._options.name}': {have} for {wanted} requests at a time, so some wait; "
            f"`{_provision_command(self._options, wanted)}` makes more"
        )


def _newly_answered(
    waiting: dict[int, AnswerFile],
) -> dict[int, ProviderResponse | ProviderError] | None:
    found: dict[int, ProviderResponse | ProviderError] = {}
    for number, file in waiting.items():
        try:
            text = file.look()
        except ProviderError as error:
            found[number] = error
        else:
            if text is not None:
                found[number] = ProviderResponse(text=text)
    return found or None


def _template_of(options: VsCodeOptions, build: ProviderBuild) -> Path | None:
    if options.workspace_template is None:
        return None
    wanted = Path(options.workspace_template).expanduser()
    places = [base / wanted for base in (build.folder, Path(build.source).parent, Path())]
    for place in places:
        if place.exists():
            return place.resolve()
    tried = ", ".join(dict.fromkeys(str(place.absolute()) for place in places))
    raise AuthorError(f"The workspace template of target '{options.name}' is none of {tried}.")


def _root_of(options: VsCodeOptions, build: ProviderBuild) -> Path:
    if options.subagent_root is None:
        return default_root(insiders=options.insiders)
    return (build.folder / Path(options.subagent_root).expanduser()).absolute()


def _executable_of(options: VsCodeOptions, build: ProviderBuild) -> str:
    if options.dry_run:
        return options.executable or default_executable(insiders=options.insiders)
    return find_executable(
        options.executable,
        insiders=options.insiders,
        env=build.env,
        folder=build.folder,
        who=f"Target '{options.name}'",
    )


def _list_command(options: VsCodeOptions) -> str:
    return f"agentv vscode list{_which_workers(options)}"


def _provision_command(options: VsCodeOptions, number: int) -> str:
    return f"agentv vscode provision --subagents {number}{_which_workers(options)}"


def _which_workers(options: VsCodeOptions) -> str:
    insiders = " --insiders" if options.insiders else ""
    return insiders + (f" --root {options.subagent_root}" if options.subagent_root else "")


def _delivery() -> Delivery:
    return "powershell" if sys.platform == "win32" else "file"


def _now() -> datetime:
    return datetime.now(UTC)
