"""`agentv eval`: load, run, report."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from agentv.assembly.earlier import Rerun, Rescore
from agentv.assembly.options import DEFAULT_MAX_RETRIES, RunOptions
from agentv.cli.console import (
    err,
    is_terminal,
    out,
    print_json,
    print_problems,
    visible,
)
from agentv.cli.exporting import export_all
from agentv.cli.failure import mistakes_in_words, problems_json
from agentv.cli.interrupt import interruptible
from agentv.cli.progress import LineProgress, NoProgress
from agentv.cli.resuming import asks_nobody, resume_of
from agentv.cli.summary import report_json, summary_lines
from agentv.errors import AuthorError, ExitCode
from agentv.execution.recorded_variables import recorded_variables
from agentv.execution.report import RunReport
from agentv.execution.request import RunRequest, refuse_cassette_with
from agentv.exporters.base import exporter_for
from agentv.loading.discover import discover
from agentv.loading.suites import LoadContext
from agentv.loading.workspace import Workspace, load_workspace
from agentv.model.base import Record
from agentv.model.shard import parse_shard
from agentv.protocols import Sink
from agentv.registry import Registry

_NOT_RECORDED = frozenset({"as_json", "quiet", "verbose", "resume", "retry_errors"})


_UNSAID: dict[str, Any] = {
    **dict.fromkeys(("targets_path", "workers", "agent_timeout", "threshold", "min_pass_rate")),
    **dict.fromkeys(("dry_run_delay_min", "dry_run_delay_max", "dump_prompts", "budget_usd")),
    **dict.fromkeys(("shard", "record", "replay")),
    **dict.fromkeys(("dry_run", "cache"), False),
    **dict.fromkeys(("targets", "eval_ids", "exports"), ()),
    "max_retries": DEFAULT_MAX_RETRIES,
    "dry_run_delay": 0.0,
    "seed": 0,
}
"""What an argument is that a manifest does not mention."""


class EvalOptions(Record, frozen=True, kw_only=True):
    """What was typed."""

    paths: tuple[str, ...]
    targets: tuple[str, ...]
    targets_path: Path | None
    eval_ids: tuple[str, ...]
    shard: str | None
    workers: int | None
    agent_timeout: float | None
    max_retries: int
    threshold: float | None
    min_pass_rate: float | None
    out: Path | None
    exports: tuple[Path, ...]
    dry_run: bool
    dry_run_delay: float
    dry_run_delay_min: float | None
    dry_run_delay_max: float | None
    dump_prompts: Path | None
    seed: int
    budget_usd: float | None
    cache: bool
    record: Path | None
    replay: Path | None
    resume: str | None
    retry_errors: bool
    verbose: bool
    as_json: bool
    quiet: bool

    def run_options(self) -> RunOptions:
        """What the run itself must know."""
        return RunOptions(
            workers=self.workers,
            agent_timeout=self.agent_timeout,
            max_retries=self.max_retries,
            threshold=self.threshold,
            min_pass_rate=self.min_pass_rate,
            dry_run=self.dry_run,
            dry_run_delay_ms=self._delays(),
            seed=self.seed,
            budget_usd=self.budget_usd,
            cache=self.cache,
            shard=parse_shard(self.shard) if self.shard else None,
        )

    def recorded(self) -> dict[str, Any]:
        """The arguments as the manifest keeps them."""
        return {
            name: [_movable(path) for path in value] if name == "paths" else _plain(value)
            for name, value in msgspec.structs.asdict(self).items()
            if name not in _NOT_RECORDED and _is_given(value)
        }

    @classmethod
    def recalled(cls, recorded: Mapping[str, Any], **changes: Any) -> "EvalOptions":
        """The options of a run that a manifest tells of; `out` is where that run lies, not here."""
        fields = {**_UNSAID, **recorded, "out": None, **changes}
        for name in ("targets_path", "dump_prompts", "record", "replay"):
            fields[name] = None if fields[name] is None else Path(fields[name])
        for name in ("paths", "targets", "eval_ids"):
            fields[name] = tuple(fields[name])
        fields["exports"] = tuple(map(Path, fields["exports"]))
        return cls(**{name: fields[name] for name in cls.__struct_fields__})

    def _delays(self) -> tuple[float, float]:
        low, high = self.dry_run_delay_min, self.dry_run_delay_max
        if low is None and high is None:
            return self.dry_run_delay, self.dry_run_delay
        if low is None or high is None or low > high:
            raise AuthorError(
                "--dry-run-delay-min and --dry-run-delay-max go together, the smaller one first."
            )
        return low, high


def run_eval(options: EvalOptions, origin: Rescore | Rerun | None = None) -> int:
    """Run what was asked and return the exit code.

    Args:
        options: What was typed, now or when an earlier run was started.
        origin: The earlier run that this one comes of, if any.
    """
    for path in options.exports:
        exporter_for(path)  # an unknown suffix must not be found out after an hour of trials
    refuse_cassette_with(
        record=options.record,
        replay=options.replay,
        cache=options.cache,
        dry_run=options.dry_run,
    )
    is_rescoring = isinstance(origin, Rescore) or asks_nobody(options)
    workspace = load_suites(options, asks_nobody=is_rescoring)
    print_problems(workspace.problems)
    if workspace.errors:
        return refuse(workspace, as_json=options.as_json)
    started = time.perf_counter()
    report = _execute(options, workspace, origin)
    seconds = time.perf_counter() - started
    if report.aborted:
        err(f"Run aborted: {visible(report.aborted)}")
    code = export_all(report.folder, options.exports) or report.exit_code
    if options.as_json:
        print_json({**report_json(report), "exit_code": int(code)})
    else:
        for line in summary_lines(report, seconds):
            out(line)
    return code


def refuse(workspace: Workspace, *, as_json: bool) -> ExitCode:
    """Nothing is run; with `--json` the mistakes are told there too."""
    code = exit_code_of(workspace)
    if as_json:
        problems = workspace.problems
        found = {"error": mistakes_in_words(problems), "problems": problems_json(problems)}
        print_json({"exit_code": int(code), **found})
    return code


def exit_code_of(workspace: Workspace) -> ExitCode:
    """2 for mistakes in files; 5 when all that is wrong is that nothing would be asserted."""
    codes = {problem.code for problem in workspace.errors}
    if not codes:
        return ExitCode.OK
    return ExitCode.NOTHING if codes <= {"no-cases", "nothing-asserted"} else ExitCode.USAGE


def load_suites(options: EvalOptions, *, asks_nobody: bool = False) -> Workspace:
    """The suites that were asked for, with their mistakes.

    Args:
        options: What was typed.
        asks_nobody: Whether of all targets only the judges will be called.

    Raises:
        AuthorError: There are none.
    """
    cwd = Path.cwd()
    found = discover(options.paths, cwd)
    suites = found.of_kind("eval")
    if not suites:
        others = ", ".join(str(path) for path in found.files) or ", ".join(options.paths)
        raise AuthorError(f"No eval files in {others}. An eval file has the key `evalcases`.")
    context = LoadContext(
        cwd=cwd,
        process_env=os.environ,
        registry=Registry(),
        targets_path=cwd / options.targets_path if options.targets_path else None,
        target_names=options.targets,
        recorded_variables=recorded_variables(options.replay),
        select=_selector(options.eval_ids),
    )
    resolve = not options.dry_run
    return load_workspace(suites, context, resolve=resolve, asks_nobody=asks_nobody)


def _selector(globs: tuple[str, ...]) -> Callable[[str], bool]:
    if not globs:
        return lambda _id: True
    return lambda id_: any(id_ == glob or fnmatchcase(id_, glob) for glob in globs)


def _execute(
    options: EvalOptions, workspace: Workspace, origin: Rescore | Rerun | None
) -> RunReport:
    with _sinks(options) as sinks:
        return asyncio.run(interruptible(request_of(options, workspace, origin, sinks)))


def request_of(
    options: EvalOptions,
    workspace: Workspace,
    origin: Rescore | Rerun | None = None,
    sinks: Sequence[Sink] = (),
) -> RunRequest:
    """What was typed, as a run takes it."""
    return RunRequest(
        workspace=workspace,
        options=options.run_options(),
        registry=Registry(),
        cwd=Path.cwd(),
        arguments=options.recorded(),
        out=options.out,
        resume=resume_of(options, workspace),
        origin=origin,
        record=options.record,
        replay=options.replay,
        sinks=sinks,
    )


@contextmanager
def _sinks(options: EvalOptions) -> Iterator[list[Sink]]:
    sinks: list[Sink] = []
    if options.dump_prompts is not None:
        from agentv.cli.prompt_dump import PromptDump

        sinks.append(PromptDump(options.dump_prompts))
    if options.quiet:
        yield [*sinks, NoProgress()]
    elif is_terminal():
        from agentv.cli.live import LiveProgress  # rich is only paid for where it shows

        live = LiveProgress(verbose=options.verbose)
        with live.showing():
            yield [*sinks, live]
    else:
        yield [*sinks, LineProgress(verbose=options.verbose)]


def _is_given(value: Any) -> bool:
    return value is not None and value is not False and value != ()


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return _movable(str(value))
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _movable(path: str) -> str:
    """From the working directory, where it is below that: the project may be moved."""
    here = str(Path.cwd()) + os.sep
    return path.removeprefix(here)
