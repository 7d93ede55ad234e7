"""`chosen.jsonl`: the trials that a run is of, where these are not all of its suites."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from agentv.storage.draft import Draft
from agentv.storage.lines import Key, Lines, TrialKey


def write_chosen(path: Path, keys: Iterable[Key]) -> None:
    """Write all of them or none; raises `SetupError` when the folder takes no files."""
    with Draft(path) as draft:
        for suite, eval_id, target, trial in keys:
            draft.write(TrialKey(suite=suite, eval_id=eval_id, target=target, trial=trial))
        draft.take_its_place()


def read_chosen(path: Path) -> Iterator[Key]:
    """The trials, one at a time; raises `SetupError` when a line is none."""
    with closing(Lines(path, "a trial")) as lines:
        for _, head in lines.heads():
            yield head.key
