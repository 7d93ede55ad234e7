"""A script of the author's scores the answer: the case as JSON on stdin, a score on stdout."""

import hashlib
import json
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentv.core.verdict_json import NoVerdict, decode_whole, read_verdict_object
from agentv.errors import AuthorError, SetupError
from agentv.evaluators.finding import quoted
from agentv.evaluators.reference import is_plain_path, missing_file
from agentv.model.options import EvaluatorOptions, FileFinder, OptionProblem, Seconds
from agentv.model.process import Command, CommandResult
from agentv.model.score import EvaluationContext, Score
from agentv.protocols import EvaluatorBuild

_FAILED = "Code evaluator failed: "
_STDIN_KEYS = (
    "eval_id",
    "question",
    "expected_outcome",
    "reference_answer",
    "candidate_answer",
    "guideline_paths",
    "input_files",
    "input_segments",
    "target",
    "trace",
)
_LAST_LINES = 5
_LAST_CHARACTERS = 600


class CodeOptions(EvaluatorOptions, frozen=True, kw_only=True):
    """Settings of `code`."""

    script: str | list[str]
    """A command line for the shell, or a list: a program and its arguments, without a shell."""
    cwd: str | None = None
    """The folder to run in; the eval file's own when unset."""
    timeout_seconds: Seconds = 60.0
    config: dict[str, Any] = {}
    """Handed to the script as `config`."""

    def problems(self, files: FileFinder) -> Iterator[OptionProblem]:
        """A blank script, a program given by a path or a folder that is not there."""
        if not "".join(self.script).strip():
            yield OptionProblem(
                path=("script",), message="the script is blank", hint="write the command to run"
            )
        folder = None if self.cwd is None else _folder(self.cwd, files)
        if self.cwd is not None and folder is None:
            yield missing_file(self.cwd, files, ("cwd",), kind="folder")
        elif (path := _path_in(self.script)) and not _find(path, folder, files):
            at = ("script",) if isinstance(self.script, str) else ("script", 0)
            yield missing_file(path, files, at)

    def shaping(self, files: FileFinder) -> Any:
        """What the script's words that are files hold; what those call cannot be seen."""
        folder = None if self.cwd is None else _folder(self.cwd, files)
        found = (_find(word, folder, files) for word in _paths_in(self.script))
        contents = [_digest_of(path) for path in found if path is not None]
        return {**super().shaping(files), "contents": contents}


class CodeEvaluator:
    """Runs the script once for each answer.

    stdin: one JSON object with the keys of `_STDIN_KEYS` and `config`, and `workspace` where an
    agent worked in a folder of its own, in UTF-8. stdout: one JSON
    object `{score, hits, misses, reasoning}`, alone or on the last line after whatever the script
    printed before. A script that cannot be started, takes too long or ends with another exit code
    than 0 could not run; one that prints no valid score gives 0.
    """

    def __init__(self, options: CodeOptions, build: EvaluatorBuild) -> None:
        folder = build.folder if options.cwd is None else _folder(options.cwd, build.files)
        if folder is None:
            raise AuthorError(f"the folder '{options.cwd}' is no longer there")
        self._folder = folder
        self._run = _command(options.script, folder, build.files)
        self._limit = options.timeout_seconds
        self._config = options.config
        self._env = build.env
        self._processes = build.processes

    async def evaluate(self, context: EvaluationContext) -> Score:
        """What the script says."""
        command = Command(
            run=self._run,
            cwd=self._folder,
            env=self._env,
            stdin=_stdin(context, self._config),
            timeout_seconds=self._limit,
        )
        try:
            result = await self._processes.run(command)
        except SetupError as error:
            return _not_run(str(error))
        if result.timed_out:
            return _not_run(f"no result within {self._limit:g} s{_last_words(result)}")
        if result.exit_code != 0:
            return _not_run(f"{_exit(result.exit_code)}{_last_words(result)}")
        return _read(result)


def _stdin(context: EvaluationContext, config: dict[str, Any]) -> bytes:
    payload = {key: getattr(context, key) for key in _STDIN_KEYS} | {"config": config}
    if context.workspace is not None:
        payload["workspace"] = context.workspace
    try:
        return json.dumps(payload, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which an answer can hold but UTF-8 cannot: as an escape it can.
        return json.dumps(payload, default=str).encode()


def _read(result: CommandResult) -> Score:
    stdout = result.stdout.decode("utf-8-sig", errors="replace").strip()
    verdict = _verdict(stdout)
    if not isinstance(verdict, NoVerdict):
        return verdict
    cut = " (it is too long, and was cut)" if result.truncated else ""
    ends = f"; it ends {quoted(stdout[-60:])}" if stdout else ""
    reason = f"its output {verdict.reason}{cut}{ends}"
    return Score(value=0.0, misses=(_FAILED + reason,), parse_error=reason)


def _verdict(stdout: str) -> Score | NoVerdict:
    if not stdout:
        return NoVerdict(reason="is empty")
    for text in (stdout, stdout.rsplit("\n", 1)[-1]):
        try:
            return read_verdict_object(decode_whole(text))
        except (ValueError, RecursionError):
            continue
    return NoVerdict(reason="is not a JSON object, and neither is its last line")


def _not_run(reason: str) -> Score:
    return Score(value=0.0, misses=(_FAILED + reason,), error=reason)


def _exit(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"ended by signal {-code} ({signal.Signals(-code).name})"
        except ValueError:
            return f"ended by signal {-code}"
    return f"exit code {code}"


def _last_words(result: CommandResult) -> str:
    """The end of stderr (of stdout when there is none) on one line, to follow a reason."""
    output = (result.stderr.strip() or result.stdout.strip()).decode(errors="replace")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    text = " / ".join(lines[-_LAST_LINES:])
    if len(text) > _LAST_CHARACTERS:
        text = f"…{text[-_LAST_CHARACTERS:]}"
    return f": {text}" if text else ""


def _path_in(script: str | list[str]) -> str | None:
    """The program if it is given by its path; `None` for a name, or a whole command line."""
    if isinstance(script, str):
        return script if is_plain_path(script) else None
    return script[0] if script and "/" in script[0] else None


def _paths_in(script: str | list[str]) -> Iterator[str]:
    """The words that may be files of the author's; an absolute one is an interpreter, mostly."""
    words = script
    if isinstance(script, str):
        try:
            words = shlex.split(script)
        except ValueError:  # the shell may make sense of it
            words = script.split()
    yield from (word for word in words if word and not word.startswith(("/", "-")))


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder(reference: str, files: FileFinder) -> Path | None:
    found = files.find(reference)
    return found if found is not None and found.is_dir() else None


def _find(program: str, folder: Path | None, files: FileFinder) -> Path | None:
    """A program given by its path: in the folder it runs in, else wherever files are found."""
    if folder is not None and (folder / program).is_file():
        return folder / program
    found = files.find(program)
    return found if found is not None and found.is_file() else None


def _command(script: str | list[str], folder: Path, files: FileFinder) -> str | tuple[str, ...]:
    """The script as a command; one that is a file's path is found wherever files are found."""
    path = _path_in(script)
    found = _find(path, folder, files) if path else None
    if isinstance(script, str):
        return shlex.quote(str(found)) if found else script
    return (str(found), *script[1:]) if found else tuple(script)
