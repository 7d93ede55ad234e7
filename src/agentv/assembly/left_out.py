"""Trials of an earlier run that were to be asked anew, and that its suites do not have any more.

Nobody may take a rerun for a verdict on trials that were not in it.
"""

from collections.abc import Iterable

from agentv.assembly.choosing import Chosen
from agentv.assembly.earlier import Rerun
from agentv.core.moved_suites import SuiteName, moved_suites
from agentv.storage.lines import Key
from agentv.storage.manifest import read_manifest
from agentv.storage.rows import open_rows

_NAMED = 5


def left_out(
    rerun: Rerun, chosen: Chosen | None, suites: Iterable[SuiteName], planned: Iterable[Key]
) -> str | None:
    """The trials that cannot be asked anew, in a sentence; `None` if all can.

    Args:
        rerun: Of which run, and which of its trials.
        chosen: The same, as it was worked out.
        suites: As they are now.
        planned: The trials that are asked anew, with their suites as they are called now.

    Raises:
        SetupError: The earlier run cannot be read.
    """
    before = read_manifest(rerun.folder.manifest_path)
    places = moved_suites(before.suites, tuple(suites))
    seen = {hash((places.get(suite, suite), *trial)) for suite, *trial in planned}
    lacking, named = 0, []
    for row in open_rows(rerun.folder.journal_path):
        key = row.suite, row.eval_id, row.target, row.trial
        if hash(key) in seen or (chosen is not None and not chosen.has(key)):
            continue
        seen.add(hash(key))
        lacking += 1
        if lacking <= _NAMED:
            named.append(f"{row.eval_id} ({row.target})")
    return _in_words(rerun, lacking, named) if lacking else None


def why_nothing(rerun: Rerun) -> str:
    """Why no trial of the run is asked anew, where none was meant."""
    which = _meant(rerun, "has") or "is still in its suites"
    return f"no trial of the run {rerun.folder.path.name} {which}."


def _in_words(rerun: Rerun, lacking: int, named: list[str]) -> str:
    trials, are = ("1 trial", "is") if lacking == 1 else (f"{lacking} trials", "are")
    has = "has" if lacking == 1 else "have"
    meant = _meant(rerun, has)
    which = f" that {meant}" if meant else ""
    more = f" and {lacking - _NAMED} more" if lacking > _NAMED else ""
    return (
        f"{trials} of the run {rerun.folder.path.name}{which} {are} no longer in its suites, or "
        f"not on that target: {', '.join(named)}{more}."
    )


def _meant(rerun: Rerun, has: str) -> str:
    """`failed or has an id that matches 'a*'`; nothing where all trials are meant."""
    ways = ["failed"] if rerun.failed else []
    if rerun.errors:
        ways.append("ended in an error")
    if rerun.eval_ids:
        globs = ", ".join(f"'{glob}'" for glob in rerun.eval_ids)
        ways.append(f"{has} an id that matches {globs}")
    return " or ".join(ways)
