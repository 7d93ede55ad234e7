"""Kill runs over a batch at random moments, several in a row, and count what was paid.

    PYTHONPATH=tests python tests/providers/apis/batch_kills.py [--moments 25] [--seed 1] [API ...]
                                                                [--resume [--cut]]

Each story is a fresh vendor and a fresh project of 300 cases, of which 30 have no answer in the
batch for one reason or another. Runs are killed (SIGKILL) at random moments; then one is let to its
end. What must hold: one batch was made, there is one row a case, each with the verdict that it has
without kills, and nothing was asked singly but what the batch had no answer to.

Without `--resume` each run is started anew. With it one run is gone on with, and what comes of it
is held against a run that nobody disturbed: with and without judges, failing cases, and cases that
the batch has no answer to. `--cut` cuts the run's files at some byte after a kill, besides.
"""

import argparse
import json
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from batch_project import BatchProject, case_name
from batch_resumes import Flavour, Told, control, story, vendor_of
from batch_vendor import BatchVendor, Step

from processes import LIMIT_SECONDS

APIS = ("openai", "azure", "anthropic", "gemini")
CASES = 300
REASONS = (400, 500, None, 429)
UNANSWERED = {case_name(n): REASONS[n // 10 % 4] for n in range(3, CASES, 10)}
REFUSED = {case_name(n): 400 for n in (13, 113, 213)}
"""Of the unanswered: singly they are refused as well."""
DELAYS: dict[Step, float] = {
    "upload": 0.1,
    "create": 0.2,
    "status": 0.03,
    "results": 0.1,
    "single": 0.02,
}
EARLY = 0.1
"""The share of runs that are killed while they start."""
LATEST_START, LONGEST_RUN = 1.0, 1.5
"""Seconds."""


@dataclass
class Story:
    """What came of one."""

    stages: list[str] = field(default_factory=list)
    """How far each run was when it was killed."""
    batches: int = 0
    rows: int = 0
    singly: int = 0
    """Requests that were sent singly, by all runs together."""
    wrong: list[str] = field(default_factory=list)
    """What must hold and does not."""


def tell(
    api: str,
    folder: Path,
    rng: random.Random,
    *,
    cases: int = CASES,
    most_kills: int = 4,
    options: Sequence[str] = (),
) -> Story:
    """Kill one to `most_kills` runs, let the next one end, and look at what there is."""
    story = Story()
    with BatchVendor(fates=UNANSWERED, single_fates=REFUSED, polls=3, delays=DELAYS) as vendor:
        project = BatchProject(folder, vendor, api, cases=cases, options=tuple(options))
        out = ""
        for number in range(rng.randint(1, most_kills)):
            out = f"killed-{number}"
            stage = _killed(project, vendor, out, rng)
            story.stages += [stage] if stage else []
            if len(project.rows(out)) == cases and not _ledgers(project):
                break  # every row is written: there is nothing to start again for
        else:
            out = "last"
            code, said = project.finish(out)
            if code != 3:
                story.wrong.append(f"exit code {code}: {said[-2000:]}")
        story.batches = len(vendor.batches)
        story.singly = len(vendor.singles)
        _check(story, project, vendor, out)
    return story


def _killed(project: BatchProject, vendor: BatchVendor, out: str, rng: random.Random) -> str:
    """Kill a run at some moment: while it starts, after it first asks, or after it asks for this.

    Returns:
        How far it had come; nothing if it had ended before.
    """
    step = rng.choice((None, None, *DELAYS))
    before = vendor.seen.copy()
    is_early = rng.random() < EARLY
    process = project.start(out)

    def is_due() -> bool:
        news = vendor.seen - before
        return news[step] > 0 if step else news.total() > 0

    started = time.monotonic()
    while process.poll() is None and not is_due():
        if is_early and time.monotonic() > started + LATEST_START * rng.random():
            break
        time.sleep(0.002)
    if process.poll() is None and not is_early:
        time.sleep(rng.uniform(0.0, DELAYS[step] * 1.5 if step else LONGEST_RUN))
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=LIMIT_SECONDS)
        return _stage(project, vendor, out)
    process.communicate(timeout=LIMIT_SECONDS)
    return ""


def _stage(project: BatchProject, vendor: BatchVendor, out: str) -> str:
    """How far a killed run had come."""
    entries = [json.loads(path.read_bytes()) for path in _ledgers(project)]
    parts = [part for entry in entries for part in entry["parts"]]
    if project.rows(out):
        return "handing out"
    if not any(part["asked"] for part in parts):
        return "before asking"
    if not any(part["batch_id"] for part in parts):
        return "made, not noted" if vendor.batches else "asked, not made"
    return "waiting" if not vendor.seen["results"] else "answered"


def _check(story: Story, project: BatchProject, vendor: BatchVendor, out: str) -> None:
    rows = project.rows(out)
    story.rows = len(rows)
    cases = [case_name(n) for n in range(project.cases)]
    expected = {f"c{n}": "error" if case in REFUSED else "pass" for n, case in enumerate(cases)}
    found = {row["eval_id"]: row["verdict"] for row in rows}
    if story.batches != 1:
        story.wrong.append(f"{story.batches} batches")
    if story.rows != project.cases or found != expected:
        wrong = {id_: found.get(id_) for id_ in expected if found.get(id_) != expected[id_]}
        story.wrong.append(f"{story.rows} rows, wrong: {wrong}")
    if others := set(vendor.singles) - UNANSWERED.keys():
        story.wrong.append(f"sent singly for nothing: {sorted(others)}")
    if missing := (UNANSWERED.keys() & set(cases)) - set(vendor.singles):
        story.wrong.append(f"not sent singly: {sorted(missing)}")
    if left := _ledgers(project):
        story.wrong.append(f"left in the ledger: {left}")


def _ledgers(project: BatchProject) -> list[Path]:
    return [path for path in project.ledger if path.suffix == ".json"]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("apis", nargs="*", default=APIS, metavar="API")
    parser.add_argument("--moments", type=int, default=25, help="kills for each API, at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", action="store_true")
    parser.add_argument("--resume", action="store_true", help="go on with one run")
    parser.add_argument("--cut", action="store_true", help="with --resume: cut its files, too")
    asked = parser.parse_args()
    if asked.resume:
        going_on = [_go_on(api, asked.moments, asked.seed, cuts=asked.cut) for api in asked.apis]
        return int(any(going_on))
    is_wrong = False
    for api in asked.apis:
        rng = random.Random(f"{asked.seed} {api}")
        stages: Counter[str] = Counter()
        stories: list[Story] = []
        started = time.monotonic()
        while stages.total() < asked.moments:
            with TemporaryDirectory() as name:
                options = ("--cache",) if asked.cache else ()
                story = tell(api, Path(name) / "project", rng, options=options)
            stories.append(story)
            stages.update(story.stages)
            for line in story.wrong:
                is_wrong = True
                print(f"  WRONG {api} {story.stages}: {line}", flush=True)
        runs = len(stories)
        kills = ", ".join(f"{number} {stage}" for stage, number in stages.most_common())
        print(
            f"{api:10} {runs} stories, {stages.total()} kills ({kills}); "
            f"batches {sum(s.batches for s in stories)} for {runs}; "
            f"rows {sum(s.rows for s in stories)} of {runs * CASES}; "
            f"sent singly {sum(s.singly for s in stories)}; "
            f"{time.monotonic() - started:.0f} s",
            flush=True,
        )
    return int(is_wrong)


_STORIES_OF_A_KIND = 5


def _go_on(api: str, moments: int, seed: int, *, cuts: bool) -> int:
    """Tell stories of runs that go on; how many things do not hold."""
    rng = random.Random(f"{seed} {api}")
    told: list[Told] = []
    started = time.monotonic()
    while sum(len(one.stages) for one in told) < moments:
        flavour = Flavour(
            api=api,
            judged=rng.random() < 0.5,
            wrong=rng.choice((0, 5)),
            failing=rng.random() < 0.7,
        )
        with TemporaryDirectory() as name, vendor_of(flavour) as vendor:
            known = control(flavour, vendor, Path(name) / "control")
            for number in range(_STORIES_OF_A_KIND):
                folder = Path(name) / f"story-{number}"
                told.append(story(known, vendor, folder, rng, cuts=cuts))
                for line in told[-1].broken:
                    print(f"  WRONG {flavour} {told[-1]}: {line}", flush=True)
    stages = Counter(stage for one in told for stage in one.stages)
    kills = ", ".join(f"{number} {stage}" for stage, number in stages.most_common())
    print(
        f"{api:10} {len(told)} runs, {stages.total()} kills ({kills}), "
        f"{sum(one.in_resume for one in told)} in the middle of a resume, "
        f"{sum(one.cut for one in told)} with the journal cut; "
        f"workers {' '.join(map(str, sorted({one.workers for one in told})))}; "
        f"in flight and asked again {sum(one.repeated for one in told)}; "
        f"what does not hold {sum(len(one.broken) for one in told)}; "
        f"{time.monotonic() - started:.0f} s",
        flush=True,
    )
    return sum(len(one.broken) for one in told)


if __name__ == "__main__":
    sys.exit(main())
