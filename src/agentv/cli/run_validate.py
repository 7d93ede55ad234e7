"""`agentv validate`: every file checked, every mistake shown, the exit code for a gate."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentv.cli.console import err, out, paint, print_json, print_problems
from agentv.cli.failure import problems_json
from agentv.errors import ExitCode
from agentv.loading.config import load_guideline_patterns
from agentv.loading.discover import Discovered, discover
from agentv.loading.environment import load_environment
from agentv.loading.project import find_root, folders_up
from agentv.loading.suites import LoadContext
from agentv.loading.targets import load_targets
from agentv.loading.workspace import load_workspace
from agentv.model.base import Record
from agentv.model.problem import LoadError, Problem
from agentv.registry import Registry

_PARALLEL_FROM_BYTES = 2_000_000
"""Below this, starting processes costs more than it saves."""
_NOTHING_CODES = frozenset({"no-cases", "nothing-asserted"})


class ValidateOptions(Record, frozen=True, kw_only=True):
    """What was typed."""

    paths: tuple[str, ...]
    targets_path: Path | None
    strict: bool
    as_json: bool
    quiet: bool


class Checked(Record, frozen=True, kw_only=True):
    """What checking one file found."""

    file: str
    kind: str
    cases: int
    problems: tuple[Problem, ...]


def run_validate(options: ValidateOptions) -> int:
    """Check what was asked and return the exit code."""
    cwd = Path.cwd()
    found = discover(options.paths or (".",), cwd)
    targets = cwd / options.targets_path if options.targets_path else None
    checked = _check_all(found, targets)
    problems = _distinct(problem for file in checked for problem in file.problems)
    code = _exit_code(checked, problems, strict=options.strict)
    if options.as_json:
        print_json(_as_json(checked, problems, code))
        return code
    print_problems(problems)
    if not options.quiet or code:
        (out if code == ExitCode.OK else err)(_closing_line(checked, problems, found, code))
    return code


def _check_all(found: Discovered, targets: Path | None) -> list[Checked]:
    work = [(path, kind, targets) for path, kind in found.files.items()]
    size = sum(path.stat().st_size for path, *_ in work if path.is_file())
    processes = min(os.cpu_count() or 1, len(work))
    if processes < 2 or size < _PARALLEL_FROM_BYTES:
        return [check_file(*item) for item in work]
    # Importing it takes a tenth of the time in which a small suite is checked.
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(check_file, *zip(*work, strict=True)))


def check_file(path: Path, kind: str, targets: Path | None) -> Checked:
    """Check one file as `eval` would."""
    cwd = Path.cwd()
    context = LoadContext(
        cwd=cwd, process_env=os.environ, registry=Registry(), targets_path=targets
    )
    shown = str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path)
    problems: Sequence[Problem]
    cases = 0
    if kind == "eval":
        workspace = load_workspace([path], context)
        problems = workspace.problems
        cases = sum(suite.total_cases for suite in workspace.suites)
    elif kind == "targets":
        problems = _check_targets(path, context)
    else:
        problems = _check_config(path, cwd)
    return Checked(file=shown, kind=kind, cases=cases, problems=tuple(problems))


def _check_targets(path: Path, context: LoadContext) -> list[Problem]:
    """A targets file that is checked by itself is checked whole, variables included."""
    try:
        targets = load_targets(path, context.cwd, context.registry)
    except LoadError as error:
        return list(error.problems)
    problems = [*targets.problems, *targets.warnings()]
    folders = folders_up(path.parent, find_root(path.parent, context.cwd), context.cwd)
    try:
        environment = load_environment(folders, context.process_env)
    except LoadError as error:
        return [*problems, *error.problems]
    for name, definition in targets.definitions.items():
        if definition.entry is not None:
            problems += targets.resolve(name, environment.values)[1]
    return problems


def _check_config(path: Path, cwd: Path) -> list[Problem]:
    try:
        load_guideline_patterns(path, cwd)
    except LoadError as error:
        return list(error.problems)
    return []


def _distinct(problems: Iterable[Problem]) -> list[Problem]:
    """Suites that share a targets file find its mistakes once each; they are said once."""
    return sorted(
        dict.fromkeys(problems), key=lambda p: (p.file, p.line or 0, p.column or 0, p.message)
    )


def _exit_code(
    checked: Sequence[Checked], problems: Sequence[Problem], *, strict: bool
) -> ExitCode:
    if not checked:
        return ExitCode.NOTHING
    counted = [p for p in problems if strict or p.severity == "error"]
    if not counted:
        return ExitCode.OK
    return ExitCode.NOTHING if {p.code for p in counted} <= _NOTHING_CODES else ExitCode.USAGE


def _closing_line(
    checked: Sequence[Checked], problems: Sequence[Problem], found: Discovered, code: ExitCode
) -> str:
    errors = sum(problem.severity == "error" for problem in problems)
    warnings = len(problems) - errors
    cases = sum(file.cases for file in checked)
    words = [_count(len(checked), "file"), _count(cases, "eval case"), _count(errors, "error")]
    if warnings:
        words.append(_count(warnings, "warning"))
    if found.skipped:
        words.append(f"{_count(len(found.skipped), 'other YAML file')} passed over")
    verdict = paint("valid", "good") if code == ExitCode.OK else paint("not valid", "bad", err=True)
    if not checked:
        return "Nothing to validate: no eval, targets or config file was found."
    return f"{verdict}: {', '.join(words)}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _as_json(
    checked: Sequence[Checked], problems: Sequence[Problem], code: ExitCode
) -> dict[str, object]:
    return {
        "valid": code == ExitCode.OK,
        "exit_code": int(code),
        "files": [
            {
                "file": file.file,
                "kind": file.kind,
                "cases": file.cases,
                "valid": not any(p.severity == "error" for p in file.problems),
            }
            for file in checked
        ],
        "problems": problems_json(problems),
    }
