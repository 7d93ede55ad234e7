"""Any command line as a system under test, rendered from a template for each attempt."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from agentv.core.command_template import (
    DEFAULT_FILES_FORMAT,
    CommandTemplate,
    files_format_problems,
    template_problems,
)
from agentv.errors import ProviderError, ProviderTimeout, RunAborted, SetupError
from agentv.model.base import Record
from agentv.model.options import FileFinder, OptionProblem, TargetOptions
from agentv.model.process import Command, CommandResult
from agentv.model.request import ProviderRequest, ProviderResponse
from agentv.protocols import ProviderBuild
from agentv.providers.healthcheck import DEFAULT_SECONDS, HealthCheck
from agentv.providers.process_ending import describe_exit, last_words
from agentv.transport.http import probe

_LARGEST_ANSWER = 32 * 1024 * 1024


class CliOptions(TargetOptions, frozen=True, kw_only=True):
    """What a `cli` target may set."""

    command_template: str
    """Run by `/bin/sh`. Placeholders: `{PROMPT} {GUIDELINES} {EVAL_ID} {ATTEMPT} {FILES}
    {OUTPUT_FILE}`; each value is escaped for the quotes around it."""
    files_format: str = DEFAULT_FILES_FORMAT
    """How each file of `{FILES}` is written, with `{path}` and `{basename}`."""
    cwd: str | None = None
    """The folder to run in, from the folder of the targets file or the working directory."""
    env: dict[str, str] = {}
    """Set on top of the environment that the command inherits."""
    healthcheck: HealthCheck | None = None
    """Run once before the first request; the run is aborted when it fails."""
    verbose: bool = False
    """Show each rendered command; it holds the prompt."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """Mistakes in the templates and in the health check."""
        yield from super().problems(files)
        yield from template_problems(self.command_template, ("command_template",))
        yield from files_format_problems(self.files_format, ("files_format",))
        if self.healthcheck is not None:
            for problem in self.healthcheck.problems():
                yield OptionProblem(
                    path=("healthcheck", *problem.path),
                    message=problem.message,
                    hint=problem.hint,
                    code=problem.code,
                )


class _Ran(Record, frozen=True, kw_only=True):
    """A command that ended, and the answer file it was offered."""

    result: CommandResult
    answer: bytes | None


class CliProvider:
    """Asks a command line: one process for each attempt."""

    def __init__(self, options: CliOptions, build: ProviderBuild) -> None:
        self._options = options
        self._build = build
        self._template = CommandTemplate.parse(
            options.command_template, files_format=options.files_format
        )
        self._env = {**build.env, **options.env}

    async def prepare(self) -> None:
        """Run the health check, if there is one.

        Raises:
            RunAborted: It failed.
        """
        check = self._options.healthcheck
        if check is None or self._build.replays:
            return
        try:
            await self._check(check)
        except (ProviderError, SetupError) as error:
            what = f"GET {check.url}" if check.type == "http" else "its command"
            detail = (
                f"\n{error.detail}" if isinstance(error, ProviderError) and error.detail else ""
            )
            raise RunAborted(
                f"The health check of target '{self._options.name}' failed ({what}): "
                f"{error}{detail}"
            ) from error

    async def respond(self, request: ProviderRequest) -> ProviderResponse:
        """Run the command once; its answer file or its standard output is the answer."""
        ran = await self._run(
            self._template, request, self._options.cwd, self._options.timeout_seconds
        )
        _raise_unless_succeeded(ran.result, self._options.timeout_seconds)
        if "OUTPUT_FILE" not in self._template.placeholders:
            if ran.result.truncated:
                raise _too_large()
            return ProviderResponse(text=_decode(ran.result.stdout))
        if ran.answer is None:
            raise ProviderError(
                "the command succeeded but wrote nothing to {OUTPUT_FILE}",
                kind="no_output",
                detail=last_words(ran.result),
            )
        return ProviderResponse(text=_decode(ran.answer))

    async def _check(self, check: HealthCheck) -> None:
        limit = check.timeout_seconds or self._options.timeout_seconds or DEFAULT_SECONDS
        if check.type == "http":
            status = await probe(check.url or "", timeout_seconds=limit)
            if not 200 <= status <= 299:
                raise ProviderError(f"the answer was HTTP status {status}", kind="status")
            return
        template = CommandTemplate.parse(
            check.command_template or "", files_format=self._options.files_format
        )
        request = ProviderRequest(eval_id="healthcheck", question="healthcheck")
        ran = await self._run(
            template, request, check.cwd or self._options.cwd, limit, is_helper=True
        )
        _raise_unless_succeeded(ran.result, limit)

    async def _run(
        self,
        template: CommandTemplate,
        request: ProviderRequest,
        cwd: str | None,
        timeout_seconds: float | None,
        *,
        is_helper: bool = False,
    ) -> _Ran:
        """Render a template for a request and run it, with an answer file if it asks for one."""
        limits = Command(
            run="", cwd=self._folder(cwd), timeout_seconds=timeout_seconds, is_helper=is_helper
        )
        if "OUTPUT_FILE" not in template.placeholders:
            return _Ran(result=await self._execute(template, request, None, limits), answer=None)
        with _private_folder() as folder:
            file = Path(folder, "answer.txt")
            result = await self._execute(template, request, file, limits)
            return _Ran(result=result, answer=_read(file))

    async def _execute(
        self,
        template: CommandTemplate,
        request: ProviderRequest,
        output_file: Path | None,
        limits: Command,
    ) -> CommandResult:
        values = {
            "PROMPT": _prompt(request),
            "GUIDELINES": request.guidelines,
            "EVAL_ID": request.eval_id,
            "ATTEMPT": str(request.attempt),
            "OUTPUT_FILE": str(output_file or ""),
        }
        line = template.render(values, request.input_files)
        if self._options.verbose:
            who = f"{self._options.name}: {request.eval_id}, attempt {request.attempt}"
            self._build.notify(f"{who}: {line}")
        command = msgspec.structs.replace(
            limits,
            run=line,
            env=self._env,
            places={"output": output_file.parent} if output_file else {},
            reads=tuple(map(Path, request.input_files if "FILES" in template.placeholders else ())),
            writes=(output_file,) if output_file else (),
        )
        try:
            return await self._build.processes.run(command)
        except SetupError as error:
            raise ProviderError(str(error), kind="spawn") from error

    def _folder(self, cwd: str | None) -> Path | None:
        if cwd is None:
            return None
        wanted = Path(cwd).expanduser()
        for folder in (self._build.folder / wanted, Path.cwd() / wanted):
            if folder.is_dir():
                return folder
        places = {str(self._build.folder / wanted), str(Path.cwd() / wanted)}
        raise ProviderError(
            f"the working folder '{cwd}' does not exist", kind="spawn", detail="\n".join(places)
        )


def _prompt(request: ProviderRequest) -> str:
    """The question; behind the instructions when the target serves as a judge."""
    if request.system_prompt:
        return f"{request.system_prompt}\n\n{request.question}"
    return request.question


def _raise_unless_succeeded(result: CommandResult, limit: float | None) -> None:
    """Messages never hold the command: it holds the prompt."""
    if result.timed_out:
        raise ProviderTimeout(
            f"the command did not end within {limit:g} s", detail=last_words(result)
        )
    if result.exit_code != 0:
        detail = last_words(result)
        reason = f": {detail.splitlines()[-1]}" if detail else ""
        raise ProviderError(
            f"the command {describe_exit(result.exit_code or 0)}{reason}",
            kind="exit",
            detail=detail,
        )


def _private_folder() -> TemporaryDirectory[str]:
    try:
        return TemporaryDirectory(prefix="agentv-", ignore_cleanup_errors=True)
    except OSError as error:
        raise ProviderError(
            f"no temporary folder can be made: {error.strerror}", kind="spawn"
        ) from error


def _read(file: Path) -> bytes | None:
    # Only a regular file: a pipe or a device that a command put there could be read for ever.
    if not file.is_file():
        return None
    if file.stat().st_size > _LARGEST_ANSWER:
        raise _too_large()
    return file.read_bytes()


def _too_large() -> ProviderError:
    """A cut answer could pass or fail for what is missing from it."""
    megabytes = _LARGEST_ANSWER // 1024 // 1024
    return ProviderError(f"the answer is larger than {megabytes} MB", kind="too_large")


def _decode(data: bytes) -> str:
    """As a shell takes a command's output: without the newlines at its end."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").rstrip("\n")
