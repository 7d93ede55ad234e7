"""What a summary says of the earlier run that a run came of, and of what changed since."""

from collections.abc import Iterator
from typing import Any

import msgspec

from agentv.cli.console import Tone, one_line, paint
from agentv.cli.going_on import was_cut_short
from agentv.execution.report import RunReport
from agentv.model.flips import EvaluatorChange, FlipReport, TrialChange
from agentv.model.run import RerunLink

_LISTED = 20


def origin_lines(report: RunReport) -> Iterator[str]:
    """Which run it came of, and what of that run is not in it."""
    if (rerun := report.manifest.rerun_of) is not None:
        which = _chosen(rerun, report.summary.counts.total)
        yield f"  rerun of    {one_line(rerun.run_id, 60)}: {which}"
    rescored = report.manifest.rescored_from
    if rescored is None:
        return
    yield f"  rescored    {one_line(rescored.run_id, 60)}: its answers, no candidate was asked"
    missing = report.summary.counts.missing
    if missing and not was_cut_short(report):
        trials = "1 trial has" if missing == 1 else f"{missing} trials have"
        yield (
            f"  {paint('note', 'warn')}        {trials} no answer in that run that fits; "
            "`agentv rerun --eval-id` asks for new ones"
        )


def flip_lines(report: RunReport) -> Iterator[str]:
    """What the verdicts are next to those of the run whose answers were judged anew."""
    rescored, flips = report.manifest.rescored_from, report.flips
    if rescored is None:
        return
    yield ""
    if flips is None:
        yield (
            f"The run {one_line(rescored.run_id, 60)} cannot be read any more, so what flipped "
            "since cannot be told."
        )
        return
    yield _headline(flips)
    for change in flips.changes[:_LISTED]:
        yield from _change(change)
    listed = min(len(flips.changes), _LISTED)
    if more := flips.flipped + flips.rescored - listed:
        yield f"  … and {more} more; --json lists them"


def flips_json(flips: FlipReport | None) -> dict[str, Any] | None:
    """The comparison as plain data; `None` if there is none."""
    if flips is None:
        return None
    plain: dict[str, Any] = msgspec.to_builtins(flips)
    return {**plain, "not_listed": flips.not_listed}


def _chosen(link: RerunLink, count: int) -> str:
    """`5 failed trials`."""
    trials = "1 trial" if count == 1 else f"{count} trials"
    if not link.chooses:
        return trials
    if link.failed and not link.errors and not link.eval_ids:
        return trials.replace(" ", " failed ")
    ways = ["failed"] if link.failed else []
    if link.errors:
        ways.append("ended in an error")
    if link.eval_ids:
        globs = ", ".join(f"'{one_line(glob, 40)}'" for glob in link.eval_ids)
        ways.append(f"{'matches' if count == 1 else 'match'} {globs}")
    return f"{trials} that {' or '.join(ways)}"


def _headline(flips: FlipReport) -> str:
    """`12 flipped: 4 pass → fail, 8 fail → pass; 3 scores changed without a flip; …`."""
    ways = ", ".join(f"{flip.trials} {flip.before} → {flip.after}" for flip in flips.flips)
    said = [f"{flips.flipped} flipped: {ways}" if flips.flipped else "No verdict flipped"]
    if flips.rescored:
        scores = "1 score" if flips.rescored == 1 else f"{flips.rescored} scores"
        said.append(f"{scores} changed without a flip")
    said.append(f"{flips.same} as before")
    if flips.only_before:
        rows = "1 row" if flips.only_before == 1 else f"{flips.only_before} rows"
        said.append(f"{rows} not judged anew")
    if flips.only_after:
        said.append(f"{flips.only_after} judged for the first time")
    return paint("; ".join(said), "strong")


def _change(change: TrialChange) -> Iterator[str]:
    """A trial, and below it what its evaluators say now."""
    place = f"{one_line(change.eval_id, 60)} ({one_line(change.target, 30)})"
    after = change.verdict_after
    verdicts = f"{change.verdict_before} → {after}" if change.is_flip else after
    tone: Tone = "good" if after == "pass" else "bad"
    scores = f"{_score(change.score_before)} → {_score(change.score_after)}"
    yield f"  {paint(verdicts, tone)}  {scores}  {place}"
    if change.is_flip and change.threshold_before != change.threshold_after:
        limits = _score(change.threshold_before), _score(change.threshold_after)
        yield f"      threshold {' → '.join(limits)}"
    for evaluator in change.evaluators:
        yield f"      {_evaluator(evaluator)}"


def _evaluator(change: EvaluatorChange) -> str:
    """`tone 0.200 → 0.900  Friendly now.`."""
    said = f"{_score(change.before)} → {_score(change.after)}"
    if change.before is None:
        said = f"added: {_score(change.after)}"
    elif change.after is None:
        said = f"removed: was {_score(change.before)}"
    elif change.weight_before != change.weight_after:
        said += f", weight {change.weight_before:g} → {change.weight_after:g}"
    why = f"  {one_line(change.why, 100)}" if change.why else ""
    return f"{one_line(change.name, 40)} {said}{why}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"
