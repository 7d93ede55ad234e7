"""A run's summary: for a person as lines, for a program as JSON. Errors come first."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from agentv.cli.cassette_lines import cassette_lines, missed_lines, missed_reason
from agentv.cli.console import one_line, paint
from agentv.cli.going_on import going_on_lines
from agentv.cli.origin_lines import flip_lines, flips_json, origin_lines
from agentv.cli.shard_lines import shard_lines
from agentv.cli.usage_lines import usage_lines
from agentv.errors import ExitCode
from agentv.execution.report import RunReport
from agentv.model.event import RunRescored, RunResumed
from agentv.model.summary import Counts, ErrorLine, LowScore, RunSummary, ScoreStatistics

_BAR = 24
_NAMED = 3
"""Cases that are named where several ended in the same error."""
_BINS = ("0.0-0.2", "0.2-0.4", "0.4-0.6", "0.6-0.8", "0.8-1.0")


def summary_lines(report: RunReport, seconds: float | None = None) -> Iterator[str]:
    """The summary of a run, line by line."""
    summary = report.summary
    yield ""
    yield from _errors(summary)
    yield from _failures(summary)
    yield from missed_lines(report)
    yield _headline(report)
    yield from origin_lines(report)
    yield from cassette_lines(report)
    yield f"  trials      {_counts(summary.counts)}"
    yield from shard_lines(report.manifest, summary)
    if not summary.dry_run:
        yield f"  pass rate   {_pass_rate(summary.counts)}"
        yield from _scores(summary.scores)
        yield from _remarks(summary)
        yield from usage_lines(summary)
        yield from _breakdown(summary)
        yield from _lowest(summary)
    if seconds is not None:
        yield f"  time        {seconds:.1f} s"
    yield f"  run         {report.folder.path}"
    yield from going_on_lines(report)
    yield f"  {_verdict(report)}"
    yield from flip_lines(report)


def report_json(report: RunReport) -> dict[str, Any]:
    """The summary as plain data: the manifest's identity, every count, the gate."""
    summary, manifest = report.summary, report.manifest
    return {
        "run_id": manifest.run_id,
        "folder": str(report.folder.path),
        "dry_run": manifest.dry_run,
        "shard": _plain(manifest.shard) if manifest.shard else None,
        "merged": [_plain(source) for source in manifest.merged],
        "exit_code": int(report.exit_code),
        "gate": {
            "holds": report.decision.holds,
            "reason": _reason(report),
            "suites": [_plain(suite) for suite in report.decision.suites],
        },
        "counts": counts_json(summary.counts),
        "scores": _plain(summary.scores),
        "suites": [
            {**_plain(suite), "counts": counts_json(suite.counts)} for suite in summary.suites
        ],
        "targets": [
            {**_plain(target), "counts": counts_json(target.counts)} for target in summary.targets
        ],
        "clamped_scores": summary.clamped,
        "parse_errors": summary.parse_errors,
        "evaluator_errors": summary.evaluator_errors,
        "replay_misses": summary.replay_misses,
        "attempts": summary.attempts,
        "retries": summary.retries,
        "usage": _plain(summary.usage),
        "judge_usage": _plain(summary.judge_usage),
        "cost_usd": _plain(summary.cost_usd),
        "cache": _plain(summary.cache) if summary.cache else None,
        "budget": _budget_json(summary),
        "recorded": manifest.recorded,
        "replayed": manifest.replayed,
        "cassette": _plain(report.cassette) if report.cassette else None,
        "lowest": [_plain(low) for low in summary.lowest],
        "failures": [_plain(failure) for failure in summary.failures],
        "errors": [_plain(error) for error in summary.errors],
        "error_kinds": summary.error_kinds,
        "unplanned_rows": summary.unplanned,
        "resumed": _plain(report.resumed) if isinstance(report.resumed, RunResumed) else None,
        "rescored_from": _plain(manifest.rescored_from) if manifest.rescored_from else None,
        "rerun_of": _plain(manifest.rerun_of) if manifest.rerun_of else None,
        "rescoring": _plain(report.resumed) if isinstance(report.resumed, RunRescored) else None,
        "flips": flips_json(report.flips),
    }


def _headline(report: RunReport) -> str:
    if report.manifest.dry_run:
        return paint(
            "DRY RUN: no target was asked and nothing was scored. This is no verdict.", "warn"
        )
    datasets = ", ".join(report.manifest.datasets)
    targets = ", ".join(target.name for target in report.summary.targets)
    return paint(f"{one_line(datasets)} on {one_line(targets) or 'nothing'}", "strong")


def _errors(summary: RunSummary) -> Iterator[str]:
    if not summary.errors:
        return
    kinds = ", ".join(f"{count} {one_line(kind)}" for kind, count in summary.error_kinds.items())
    yield paint(f"Errors ({kinds})", "bad")
    for alike in _alike(summary.errors):
        said = f"{one_line(alike[0].kind)}: {one_line(alike[0].message, 200)}"
        yield f"  ! {_places(alike)}  {said}"
    if more := summary.counts.errors - len(summary.errors):
        yield f"  … and {more} more"
    yield ""


def _alike(errors: Sequence[ErrorLine]) -> Iterable[list[ErrorLine]]:
    """Errors of one target that say the same: one line is enough for a key that is refused."""
    groups: dict[tuple[str, str, str], list[ErrorLine]] = {}
    for error in errors:
        groups.setdefault((error.target, error.kind, error.message), []).append(error)
    return groups.values()


def _failures(summary: RunSummary) -> Iterator[str]:
    if not summary.failures:
        return
    yield paint(f"Failures ({summary.counts.failed})", "bad")
    for failure in summary.failures:
        why = f"  {one_line(failure.miss, 100)}" if failure.miss else ""
        yield f"  ✗ {failure.score:.3f}  {_place(failure)}{why}"
    if more := summary.counts.failed - len(summary.failures):
        yield f"  … and {more} more"
    yield ""


def _places(errors: Sequence[ErrorLine]) -> str:
    """`one, two, three and 7 more (gpt)`."""
    ids = ", ".join(one_line(error.eval_id, 60) for error in errors[:_NAMED])
    more = f" and {len(errors) - _NAMED} more" if len(errors) > _NAMED else ""
    return f"{ids}{more} ({one_line(errors[0].target, 30)})"


def _place(trial: LowScore) -> str:
    return f"{one_line(trial.eval_id, 60)} ({one_line(trial.target, 30)})"


def _counts(counts: Counts) -> str:
    words = [f"{counts.total} planned", f"{counts.passed} passed", f"{counts.failed} failed"]
    words.append(_maybe(f"{counts.errors} errors", "bad", when=counts.errors > 0))
    if counts.skipped:
        words.append(f"{counts.skipped} skipped")
    if counts.missing:
        words.append(paint(f"{counts.missing} missing", "bad"))
    if counts.duplicates:
        words.append(paint(f"{counts.duplicates} duplicates", "bad"))
    return ", ".join(words)


def _pass_rate(counts: Counts) -> str:
    if counts.pass_rate is None:
        return "-"
    text = f"{counts.pass_rate:.3f} ({counts.passed} of {counts.total} planned)"
    if counts.pass_rate_of_scored is not None and counts.scored != counts.total:
        text += f"; {counts.pass_rate_of_scored:.3f} of the {counts.scored} scored"
    return text


def _scores(scores: ScoreStatistics) -> Iterator[str]:
    if scores.mean is None:
        yield "  score       - (nothing was scored)"
        return
    spread = f", sd {scores.stdev:.3f}" if scores.stdev is not None else ""
    yield (
        f"  score       mean {scores.mean:.3f}, median {scores.median:.3f}, "
        f"min {scores.min:.3f}, max {scores.max:.3f}{spread} (of {scores.n} scored)"
    )
    largest = max(scores.histogram)
    for label, count in zip(_BINS, scores.histogram, strict=True):
        bar = "█" * round(count / largest * _BAR) if largest else ""
        yield f"    {label}   {bar}{' ' if bar else ''}{count}"


def _remarks(summary: RunSummary) -> Iterator[str]:
    """What makes the numbers above less than they seem."""
    if summary.clamped:
        yield _warn(f"{summary.clamped} rows hold a score outside [0, 1], clamped; see `raw_score`")
    if summary.parse_errors:
        yield _warn(
            f"{summary.parse_errors} evaluator replies held no valid verdict and count as 0; "
            "see `parse_error`"
        )
    if summary.evaluator_errors:
        yield _warn(f"{summary.evaluator_errors} evaluators could not run; see their `error`")
    if summary.unplanned:
        yield _warn(f"{summary.unplanned} rows are of no planned trial")
    if summary.retries:
        yield f"  attempts    {summary.attempts}, of which {summary.retries} after a time-out"


def _breakdown(summary: RunSummary) -> Iterator[str]:
    if len(summary.suites) > 1:
        taken = [s for s in summary.suites if s.counts.total]
        yield from (_part("suite", s.path, s.counts, s.scores) for s in taken)
        if passed_over := len(summary.suites) - len(taken):
            suites = "1 other suite" if passed_over == 1 else f"{passed_over} other suites"
            yield f"              nothing was planned in {suites}"
    if len(summary.targets) > 1:
        yield from (_part("target", t.name, t.counts, t.scores) for t in summary.targets)


def _part(title: str, name: str, counts: Counts, scores: ScoreStatistics) -> str:
    mean = f", mean {scores.mean:.3f}" if scores.mean is not None else ""
    passed = f"{counts.passed} of {counts.total} passed, {counts.errors} errors"
    return f"  {title:11} {one_line(name, 60)}: {passed}{mean}"


def _lowest(summary: RunSummary) -> Iterator[str]:
    for number, low in enumerate(summary.lowest):
        title = "lowest" if number == 0 else ""
        yield f"  {title:11} {low.score:.3f}  {_place(low)}"


def _verdict(report: RunReport) -> str:
    code, reason = report.exit_code, _reason(report)
    if report.aborted:
        reason = f"aborted: {one_line(reason, 400)}"
    reason = reason[:1].upper() + reason[1:]
    return paint(f"{reason} (exit {int(code)})", "good" if code == ExitCode.OK else "bad")


def _reason(report: RunReport) -> str:
    if report.aborted:
        return report.aborted
    if report.has_missed and not report.was_interrupted:
        return missed_reason(report)
    return report.decision.reason


def _warn(text: str) -> str:
    return f"  {paint('note', 'warn')}        {text}"


def _maybe(text: str, tone: Any, *, when: bool) -> str:
    return paint(text, tone) if when else text


def counts_json(counts: Counts) -> dict[str, Any]:
    """How trials ended, as plain data."""
    names = (
        *("planned", "recorded", "passed", "failed", "errors", "skipped", "scored", "missing"),
        *("duplicates", "pass_rate", "pass_rate_of_scored"),
    )
    return {name: getattr(counts, name) for name in names}


def _budget_json(summary: RunSummary) -> dict[str, Any] | None:
    budget = summary.budget
    return {**_plain(budget), "is_reached": budget.is_reached} if budget else None


def _plain(record: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(record)
    return plain
