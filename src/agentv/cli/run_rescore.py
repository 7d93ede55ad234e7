"""`agentv rescore`: the answers of an earlier run, judged anew; no candidate is asked."""

import asyncio
import math
from pathlib import Path
from typing import Any

import msgspec

from agentv.assembly.earlier import Rescore
from agentv.cli.console import out, paint, print_json, print_problems
from agentv.cli.progress import rescoring_lines
from agentv.cli.recalling import options_of_new_run
from agentv.cli.run_eval import EvalOptions, load_suites, refuse, request_of, run_eval
from agentv.core.money import dollars
from agentv.errors import ExitCode
from agentv.execution.places import RESULTS_ROOT
from agentv.execution.request import RunRequest
from agentv.execution.run import rehearse_rescoring
from agentv.model.base import Record
from agentv.model.event import RunRescored
from agentv.storage.finding import find_run
from agentv.transport.borders import Borders


class RescoreOptions(Record, frozen=True, kw_only=True):
    """What was typed."""

    run: str
    anew: tuple[str, ...]
    dry_run: bool
    targets_path: Path | None
    workers: int | None
    threshold: float | None
    min_pass_rate: float | None
    budget_usd: float | None
    out: Path | None
    exports: tuple[Path, ...]
    verbose: bool
    as_json: bool
    quiet: bool


def run_rescore(options: RescoreOptions) -> int:
    """Judge the answers anew and return the exit code that they now deserve."""
    origin = Rescore(folder=find_run(options.run, RESULTS_ROOT), anew=options.anew)
    replaced = ("targets_path", "workers", "threshold", "min_pass_rate", "budget_usd")
    recalled = options_of_new_run(origin.folder, options.run, options, replaced)
    if options.dry_run:
        return _rehearse(recalled, origin)
    return run_eval(recalled, origin)


def _rehearse(options: EvalOptions, origin: Rescore) -> int:
    workspace = load_suites(options, asks_nobody=True)
    print_problems(workspace.problems)
    if workspace.errors:
        return refuse(workspace, as_json=options.as_json)
    plan = asyncio.run(_plan(request_of(options, workspace, origin)))
    if options.as_json:
        print_json(_plan_json(plan))
    else:
        out(paint("DRY RUN: nobody is asked and nothing is written.", "warn"))
        for line in rescoring_lines(plan):
            out(line)
        out(f"  {_costs(plan)}")
    return ExitCode.OK


async def _plan(request: RunRequest) -> RunRescored:
    async with Borders() as borders:
        return await rehearse_rescoring(request, borders)


def _costs(plan: RunRescored) -> str:
    """`14 judge calls, about $0.12 and an unknown sum for 4 of them`."""
    works = [work for work in plan.evaluators if work.judge is not None and work.anew]
    calls = sum(work.anew for work in works)
    if not calls:
        return "No judge is called."
    unknown = sum(work.anew for work in works if work.cost_usd is None)
    said = f"{calls} judge call{'' if calls == 1 else 's'}"
    if unknown == calls:
        return f"{said}; what they cost is unknown"
    known = dollars(math.fsum(work.cost_usd or 0.0 for work in works))
    gap = f"; what {unknown} of them cost is unknown" if unknown else ""
    return f"{said}, about {known}{gap}"


def _plan_json(plan: RunRescored) -> dict[str, Any]:
    works = [work for work in plan.evaluators if work.judge is not None and work.anew]
    known = [work.cost_usd for work in works if work.cost_usd is not None]
    return {
        "exit_code": int(ExitCode.OK),
        "dry_run": True,
        **msgspec.to_builtins(plan),
        "judge_calls": sum(work.anew for work in works),
        "cost_usd": {
            "total": math.fsum(known) if known or not works else None,
            "unknown": sum(work.anew for work in works if work.cost_usd is None),
        },
    }
