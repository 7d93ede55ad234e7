"""Holding the rows of a rescored run against those of the run whose answers they judge."""

from pathlib import Path

from agentv.assembly.resuming import key_then
from agentv.core.flips import FlipTally
from agentv.core.moved_suites import moved_suites
from agentv.errors import SetupError
from agentv.model.flips import FlipReport, JudgedView
from agentv.model.run import RunManifest
from agentv.storage.manifest import read_manifest
from agentv.storage.prior_run import PriorRun
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder


def flips_since(folder: RunFolder, manifest: RunManifest, results_root: Path) -> FlipReport | None:
    """What the verdicts of a rescored run are next to those it started from.

    Args:
        folder: The rescored run's.
        manifest: The rescored run's.
        results_root: Where runs lie, should the earlier one have been moved.

    Returns:
        `None` if the run is not a rescored one, or the earlier one cannot be read any more.
    """
    earlier = _earlier(manifest, results_root)
    if earlier is None:
        return None
    try:
        return _compare(earlier, folder, manifest)
    except SetupError:
        return None


def _compare(earlier: RunFolder, folder: RunFolder, manifest: RunManifest) -> FlipReport:
    before = read_manifest(earlier.manifest_path)
    places = moved_suites(before.suites, manifest.suites)
    then = {plan.path: plan.threshold for plan in before.suites}
    now = {plan.path: plan.threshold for plan in manifest.suites}
    tally = FlipTally()
    with PriorRun(earlier) as prior:
        for row in open_rows(folder.journal_path, JudgedView):
            key = key_then((row.suite, row.eval_id, row.target, row.trial), prior, places)
            was = prior.view(key, JudgedView)
            tally.add(was, row, (then.get(key[0]), now.get(row.suite)))
        return tally.report(rows_before=sum(1 for _ in prior.row_places()))


def _earlier(manifest: RunManifest, results_root: Path) -> RunFolder | None:
    link = manifest.rescored_from
    if link is None:
        return None
    for path in (Path(link.folder), results_root / link.run_id):
        folder = RunFolder(path)
        if folder.manifest_path.is_file() and _is_run(folder, link.run_id):
            return folder
    return None


def _is_run(folder: RunFolder, run_id: str) -> bool:
    try:
        return read_manifest(folder.manifest_path).run_id == run_id
    except SetupError:
        return False
