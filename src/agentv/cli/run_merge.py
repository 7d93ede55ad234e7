"""`agentv merge`: shards, or parts of a run, as one run."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agentv.cli.console import err, out, paint, print_json, visible
from agentv.cli.exporting import export_all
from agentv.cli.run_show import report_of
from agentv.cli.summary import report_json, summary_lines
from agentv.core.belonging import Source, doubts, misfits
from agentv.core.merging import joined, suites_in
from agentv.errors import AuthorError
from agentv.execution.places import RESULTS_ROOT
from agentv.exporters.base import exporter_for
from agentv.model.base import Record
from agentv.storage.finding import find_run
from agentv.storage.manifest import read_manifest
from agentv.storage.merging import Merge, MergePart
from agentv.storage.run_folder import RunFolder, new_run_folder
from agentv.storage.run_lock import writer_of


class MergeOptions(Record, frozen=True, kw_only=True):
    """What was typed."""

    runs: tuple[str, ...]
    out: Path | None
    exports: tuple[Path, ...]
    as_json: bool


def run_merge(options: MergeOptions) -> int:
    """Join the runs, show the whole, and return the exit code that it deserves."""
    for path in options.exports:
        exporter_for(path)
    folders = _folders(options.runs)
    sources = [
        Source(folder=str(folder.path), manifest=read_manifest(folder.manifest_path))
        for folder in folders
    ]
    if reasons := misfits(sources):
        listed = "".join(f"\n  {reason}" for reason in reasons)
        raise AuthorError(f"These runs do not belong together:{listed}")
    for doubt in doubts(sources):
        _warn(doubt)
    folder = _merge(folders, sources, options.out)
    report = report_of(folder)
    code = export_all(folder, options.exports) or report.exit_code
    if options.as_json:
        print_json({**report_json(report), "exit_code": int(code)})
    else:
        for line in summary_lines(report):
            out(line)
    return code


def _folders(references: Sequence[str]) -> list[RunFolder]:
    found: dict[Path, RunFolder] = {}
    for reference in references:
        folder = find_run(reference, RESULTS_ROOT)
        if folder.path.resolve() in found:
            raise AuthorError(f"{folder.path} is named twice.")
        if (writer := writer_of(folder.lock_path)) is not None:
            raise AuthorError(f"{folder.path} is being written by {writer}; wait for it.")
        found[folder.path.resolve()] = folder
    return list(found.values())


def _merge(folders: Sequence[RunFolder], sources: Sequence[Source], out: Path | None) -> RunFolder:
    now = datetime.now(UTC)
    first = sources[0].manifest
    parts = [
        MergePart(folder=folder, suites=suites_in(first, source.manifest))
        for folder, source in zip(folders, sources, strict=True)
    ]
    with Merge(parts) as merge:
        if merge.repeated:
            rows = "1 row is" if merge.repeated == 1 else f"{merge.repeated} rows are"
            _warn(f"{rows} in several of the runs, letter for letter: counted once")
        folder = RunFolder.create(out) if out else new_run_folder(RESULTS_ROOT, now)
        started = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        merge.write(folder, joined(sources, folder.path.name, started))
    return folder


def _warn(message: str) -> None:
    err(f"{paint('warning:', 'warn', err=True)} {visible(message)}")
