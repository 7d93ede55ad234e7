"""How a run is going: alive on a terminal, plain lines elsewhere. All of it goes to stderr."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic

from agentv.cli.console import err, one_line, paint
from agentv.core.money import dollars
from agentv.model.event import (
    AttemptFailed,
    BatchWaiting,
    EvaluatorWork,
    Event,
    LaneState,
    LanesWaiting,
    Notice,
    Reason,
    RunRescored,
    RunResumed,
    RunStarted,
    TrialFinished,
    TrialStarted,
)
from agentv.model.result import TrialResult, Verdict

_EVERY_LINE_UP_TO = 100
"""Runs of this size get a line for each trial; larger ones for each that needs a look."""
_STEPS = 20
_NAMED = 3
"""How many cases, targets or evaluators a line names."""
_LANES_EVERY_SECONDS = 10.0
_SAME_BATCH_EVERY_SECONDS = 300.0
_WHY = {
    "new": "never begun",
    "in_flight": "in flight when the run ended",
    "unfinished": "answered, not judged to the end",
    "case_changed": "changed (messages, files or guidelines)",
    "target_changed": "on a target whose settings changed",
    "error": "ended in an error",
    "workspace_gone": "whose workspace, which an evaluator may look at, is gone",
    "evaluators_changed": "whose evaluators or expected outcome changed",
    "limits_changed": "with another threshold, or another weight, name or place of an evaluator",
    "changed_back": "changed back to what was answered before",
    "gone": "not among the trials any more",
    "repeated": "recorded more than once, of which the last counts",
}
_WHY_UNANSWERED = {
    "new": "never asked in that run",
    "in_flight": "not answered in that run",
    "case_changed": "changed since (messages, files or guidelines)",
    "workspace_gone": _WHY["workspace_gone"],
}
_MARKS: dict[Verdict, str] = {"pass": "✓", "fail": "✗", "error": "!", "skipped": "-"}


class Tally:
    """What a run has done so far."""

    def __init__(self) -> None:
        self.total = 0
        self.done = self.before = 0
        self.verdicts: dict[Verdict, int] = {"pass": 0, "fail": 0, "error": 0, "skipped": 0}
        self.started = monotonic()

    def start(self, total: int, done: int = 0) -> None:
        """The plan stands; so many of it were done before."""
        self.total = total
        self.done = self.before = done
        self.started = monotonic()

    def add(self, result: TrialResult) -> None:
        """A row is on disk."""
        self.done += 1
        self.verdicts[result.verdict] += 1

    def counts(self) -> str:
        """`12 passed, 1 failed, 0 errors`."""
        passed, failed = self.verdicts["pass"], self.verdicts["fail"]
        words = [f"{passed} passed", f"{failed} failed", f"{self.verdicts['error']} errors"]
        if self.verdicts["skipped"]:
            words = [f"{self.verdicts['skipped']} rehearsed", *words[2:]]
        return ", ".join(words)

    def remaining_seconds(self) -> float | None:
        """At the pace so far; unknown until something is done."""
        new = self.done - self.before
        if not new:
            return None
        return (monotonic() - self.started) / new * (self.total - self.done)


class LineProgress:
    """Lines for logs and pipes."""

    def __init__(self, *, verbose: bool = False, write: Callable[[str], None] = err) -> None:
        self._tally = Tally()
        self._verbose = verbose
        self._write = write
        self._lanes_told = 0.0
        self._batches_told: dict[str, tuple[float, tuple[str, int, int]]] = {}

    def handle(self, event: Event) -> None:
        """Say what is worth a line."""
        match event:
            case RunStarted():
                self._tally.start(event.total, event.done)
                self._write(start_line(event))
            case RunResumed() | RunRescored():
                for said in left_lines(event):
                    self._write(said)
            case TrialFinished(result=result):
                self._tally.add(result)
                self._finished(result)
            case AttemptFailed() | Notice():
                if line := event_line(event, verbose=self._verbose):
                    self._write(line)
            case LanesWaiting(lanes=lanes):
                self._waiting(lanes)
            case BatchWaiting():
                self._batch(event)
            case TrialStarted():
                if self._verbose:
                    self._write(f"  … {one_line(event.eval_id)} on {one_line(event.target)}")

    def _waiting(self, lanes: Sequence[LaneState]) -> None:
        """A line now and then: a log should not fill up with waiting."""
        now = monotonic()
        if lanes and now - self._lanes_told >= _LANES_EVERY_SECONDS:
            self._lanes_told = now
            for lane in lanes:
                self._write(f"  ⏸ {lane_line(lane)}")

    def _batch(self, event: BatchWaiting) -> None:
        """A line when something is new, and now and then while nothing is."""
        now, state = monotonic(), (event.word, event.done, event.failed)
        told, before = self._batches_told.get(event.batch_id, (0.0, None))
        if state != before or now - told >= _SAME_BATCH_EVERY_SECONDS:
            self._batches_told[event.batch_id] = now, state
            self._write(f"  ⏸ {batch_line(event, event.next_look_seconds)}")

    def _finished(self, result: TrialResult) -> None:
        tally = self._tally
        step = max(1, tally.total // _STEPS)
        if tally.total <= _EVERY_LINE_UP_TO or needs_a_look(result):
            self._write(f"  [{tally.done}/{tally.total}] {result_line(result)}")
        elif tally.done % step == 0:
            self._write(f"  [{tally.done}/{tally.total}] {tally.counts()}")


class NoProgress:
    """For `--quiet`: only warnings."""

    def handle(self, event: Event) -> None:
        """Say only what could be wrong."""
        if isinstance(event, Notice) and event.level == "warning":
            err(event_line(event, verbose=False) or "")


def start_line(event: RunStarted) -> str:
    """What is about to happen."""
    trials = f"{event.total} trial{'s' if event.total != 1 else ''}"
    workers = f"{event.workers} worker{'s' if event.workers != 1 else ''}"
    prefix = "Rescoring" if event.rescoring else "Running"
    prefix = "DRY RUN: rehearsing" if event.dry_run else prefix
    where = f" -> {event.folder}" if event.folder else ""
    return f"{prefix} {trials} with {workers}{where}"


def left_lines(event: RunResumed | RunRescored) -> list[str]:
    """What is left to do of a run, or of answers, that were there before."""
    return rescoring_lines(event) if isinstance(event, RunRescored) else resumption_lines(event)


def resumption_lines(event: RunResumed) -> list[str]:
    """What stands of a run that goes on, what is left to do, and why."""
    asked = f"{event.asked} to be asked"
    if event.unanswered:
        asked = f"{event.unanswered} without an answer, in a run that asks nobody"
    lines = [f"  {event.kept} kept, {event.judged} only to be judged, {asked}"]
    lines += reason_lines(event.reasons, _WHY)
    if event.errors_kept:
        count = event.errors_kept
        have, them = ("has", "it") if count == 1 else ("have", "them")
        lines.append(f"    {count} of the kept {have} an error; --retry-errors tries {them} again")
    cut = "was cut off in the middle; it counts for nothing"
    lines += [f"  the last line of {name} {cut}" for name in event.torn]
    if event.set_aside:
        rows = "1 row" if event.set_aside == 1 else f"{event.set_aside} rows"
        lines.append(f"  {rows} set aside in superseded.jsonl")
    return lines


def reason_lines(reasons: Iterable[Reason], words: Mapping[str, str]) -> list[str]:
    """`2 on a target whose settings changed (gpt): one, two`."""
    lines = []
    for reason in reasons:
        why = words.get(reason.why, reason.why)
        if reason.names:
            why += f" ({_listed(reason.names, len(reason.names))})"
        lines.append(f"    {reason.trials} {why}: {_listed(reason.examples, reason.trials)}")
    return lines


def _listed(names: Sequence[str], count: int) -> str:
    """The first few of so many."""
    shown = names[:_NAMED]
    more = ", …" if count > len(shown) else ""
    return ", ".join(one_line(name, 40) for name in shown) + more


def rescoring_lines(event: RunRescored) -> list[str]:
    """What is judged anew of an earlier run's answers, by whom, and what cannot be."""
    errors = f", {event.kept} error{'s' if event.kept != 1 else ''} kept" if event.kept else ""
    answers = f"{event.judged} answer{'s' if event.judged != 1 else ''}"
    lines = [f"  {answers} of {one_line(event.run_id, 60)} to judge{errors}"]
    width = max((len(one_line(work.name, 30)) for work in event.evaluators), default=0)
    lines += [f"    {one_line(work.name, 30):{width}}  {_work(work)}" for work in event.evaluators]
    if event.unanswered:
        they = "it gets" if event.unanswered == 1 else "they get"
        lines.append(f"  {event.unanswered} without an answer that fits; {they} no row")
        lines += reason_lines(event.reasons, _WHY_UNANSWERED)
    if event.unanswered and event.without_row:
        rows = "1 row is" if event.without_row == 1 else f"{event.without_row} rows are"
        lines.append(
            f"  That run did not end, {rows} missing: `agentv resume` goes on with it; "
            "rescore it then."
        )
    if event.workspaces_gone:
        lines.append(
            f"  {event.workspaces_gone} answers of agents have no workspace to look at any more "
            "(`keep_workspace: always` keeps it)"
        )
    return lines


def _work(work: EvaluatorWork) -> str:
    words = [f"{work.anew} anew"] if work.anew else []
    if work.anew and work.judge is not None:
        cost = "cost unknown" if work.cost_usd is None else f"about {dollars(work.cost_usd)}"
        words = [f"{work.anew} anew by {one_line(work.judge, 30)} ({cost})"]
    if work.stands or not words:
        words.append(f"{work.stands} stand")
    return ", ".join(words)


def result_line(result: TrialResult) -> str:
    """A trial in a line: verdict, id, score, and why if it did not pass."""
    tone = {"pass": "good", "fail": "bad", "error": "warn", "skipped": "dim"}[result.verdict]
    mark = paint(_MARKS[result.verdict], tone, err=True)  # type: ignore[arg-type]
    score = f" {result.score:.2f}" if result.score is not None else ""
    why = ""
    if result.error is not None:
        why = f"  {one_line(result.error.message)}"
    elif result.verdict == "fail" and result.misses:
        why = f"  {one_line(result.misses[0])}"
    return f"{mark} {one_line(result.eval_id, 80)} ({one_line(result.target, 40)}){score}{why}"


def needs_a_look(result: TrialResult) -> bool:
    """Whether a person would want to see this trial in a long run."""
    return result.verdict in ("fail", "error")


def lane_line(lane: LaneState) -> str:
    """`api.openai.com/gpt-x: 14 in flight, 30 waiting 8 s on a rate limit`."""
    host = lane.endpoint.partition("://")[2] or lane.endpoint
    return (
        f"{one_line(host, 60)}/{one_line(lane.model, 40)}: {lane.in_flight} in flight, "
        f"{lane.waiting} waiting {lane.wait_seconds:.0f} s on a rate limit"
    )


def batch_line(batch: BatchWaiting, next_look_seconds: float | None) -> str:
    """`azure/gpt-x: batch b1 (in_progress) — 120 of 300 done, next look in 20 s`."""
    failed = f", {batch.failed} failed" if batch.failed else ""
    look = ""
    if next_look_seconds is not None:
        look = f", next look in {max(1, math.ceil(next_look_seconds))} s"
    return (
        f"{one_line(batch.model, 60)}: batch {one_line(batch.batch_id, 60)} "
        f"({one_line(batch.word, 30)}) — {batch.done} of {batch.total} done{failed}{look}"
    )


def event_line(event: AttemptFailed | Notice, *, verbose: bool) -> str | None:
    """A warning or a retry in a line; `None` if it was not asked for."""
    if isinstance(event, AttemptFailed):
        place = f"{one_line(event.eval_id, 80)} ({one_line(event.target, 40)})"
        return f"  ↻ {place} attempt {event.attempt}: {one_line(event.message)}; trying again"
    if event.level == "warning":
        return f"{paint('warning:', 'warn', err=True)} {one_line(event.message, 400)}"
    is_shown = verbose or event.level == "news"
    return f"  · {one_line(event.message, 400)}" if is_shown else None
