"""`agentv eval`: load, run, report."""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from agentv.assembly.options import RunOptions
from agentv.cli.console import err, is_terminal, out, print_json, print_problems, visible
from agentv.cli.progress import LineProgress, NoProgress
from agentv.cli.summary import report_json, summary_lines
from agentv.errors import AuthorError, ExitCode
from agentv.execution import RunReport, RunRequest, execute
from agentv.exporters.base import export, exporter_for
from agentv.loading.discover import discover
from agentv.loading.suites import LoadContext
from agentv.loading.workspace import Workspace, load_workspace
from agentv.protocols import Sink
from agentv.registry import Registry
from agentv.storage.journal import open_rows
from agentv.transport.borders import Borders


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """What was typed."""

    paths: tuple[str, ...]
    targets: tuple[str, ...]
    targets_path: Path | None
    eval_ids: tuple[str, ...]
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
        )

    def recorded(self) -> dict[str, Any]:
        """The arguments as the manifest keeps them."""
        return {
            name: _plain(value)
            for name, value in vars(self).items()
            if name not in ("as_json", "quiet", "verbose") and value not in (None, (), False)
        }

    def _delays(self) -> tuple[float, float]:
        low, high = self.dry_run_delay_min, self.dry_run_delay_max
        if low is None and high is None:
            return self.dry_run_delay, self.dry_run_delay
        if low is None or high is None or low > high:
            raise AuthorError(
                "--dry-run-delay-min and --dry-run-delay-max go together, the smaller one first."
            )
        return low, high


def run_eval(options: EvalOptions) -> int:
    """Run what was asked and return the exit code."""
    for path in options.exports:
        exporter_for(path)  # an unknown suffix must not be found out after an hour of trials
    workspace = _load(options)
    print_problems(workspace.problems)
    if workspace.errors:
        return exit_code_of(workspace)
    started = time.perf_counter()
    report = _execute(options, workspace)
    for path in options.exports:
        export(open_rows(report.folder.journal_path, dict[str, Any]), path)
    if report.aborted:
        err(f"Run aborted: {visible(report.aborted)}")
    if options.as_json:
        print_json(report_json(report))
    else:
        for line in summary_lines(report, time.perf_counter() - started):
            out(line)
    return report.exit_code


def exit_code_of(workspace: Workspace) -> ExitCode:
    """2 for mistakes in files; 5 when all that is wrong is that nothing would be asserted."""
    codes = {problem.code for problem in workspace.errors}
    if not codes:
        return ExitCode.OK
    return ExitCode.NOTHING if codes <= {"no-cases", "nothing-asserted"} else ExitCode.USAGE


def _load(options: EvalOptions) -> Workspace:
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
        select=_selector(options.eval_ids),
    )
    return load_workspace(suites, context, resolve=not options.dry_run)


def _selector(globs: tuple[str, ...]) -> Callable[[str], bool]:
    if not globs:
        return lambda _id: True
    return lambda id_: any(id_ == glob or fnmatchcase(id_, glob) for glob in globs)


def _execute(options: EvalOptions, workspace: Workspace) -> RunReport:
    with _sinks(options) as sinks:
        request = RunRequest(
            workspace=workspace,
            options=options.run_options(),
            registry=Registry(),
            cwd=Path.cwd(),
            arguments=options.recorded(),
            out=options.out,
            sinks=sinks,
        )
        return asyncio.run(_interruptible(request))


async def _interruptible(request: RunRequest) -> RunReport:
    """The first Ctrl-C (or SIGTERM) ends the run cleanly, the second at once."""
    task = asyncio.current_task()
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked > 1:
            borders.processes.kill_all()
            os._exit(ExitCode.INTERRUPTED)
        err("Stopping; finished rows are kept. Once more to stop at once.")
        if task is not None:
            task.cancel()

    async with Borders() as borders:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
        return await execute(request, borders)


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


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
