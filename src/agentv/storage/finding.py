"""Which run a person means, and which there are."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from agentv.errors import SetupError
from agentv.model.base import Record
from agentv.storage.run_folder import RunFolder

_LATEST = re.compile(r"latest(?:~([0-9]{1,6}))?", re.ASCII)
_SHOWN = 5
"""How many names an error message lists."""


def find_run(reference: str, results_root: Path) -> RunFolder:
    """The run that a person means.

    Args:
        reference: A run's folder, its id or the beginning of one, `latest`, or `latest~1` for the
            one before. Of what a run that was cut short has left, the name alone.
        results_root: The folder in which runs lie.

    Raises:
        SetupError: There is no such run, or there are several.
    """
    runs = newest_first(results_root)
    if match := _LATEST.fullmatch(reference):
        return _latest(runs, int(match[1] or 0), results_root)
    named = {folder.path.name: folder for folder in (*runs, *remains(results_root))}
    if reference in named:
        return named[reference]
    given = RunFolder(Path(reference)) if reference else None
    if given is not None and given.manifest_path.is_file():
        return given
    beginnings = sorted(name for name in named if name.startswith(reference)) if reference else []
    if len(beginnings) == 1:
        return named[beginnings[0]]
    if beginnings:
        raise SetupError(f"Several runs begin with '{reference}': {_listed(beginnings)}.")
    if given is not None and given.path.is_dir():
        raise SetupError(f"{reference} holds no run: there is no {given.manifest_path.name} in it.")
    raise SetupError(f"There is no run '{reference}'. {_advice(reference, runs, results_root)}")


def newest_first(results_root: Path) -> list[RunFolder]:
    """Every run, by when it began."""
    return sorted(filter(_is_run, _folders(results_root)), key=_age, reverse=True)


def remains(results_root: Path) -> list[RunFolder]:
    """What is left of runs without a manifest: they were killed before they began to ask, or while
    they were merged or removed; or something else took the manifest away.
    """
    return [folder for folder in _folders(results_root) if not _is_run(folder) and _has_any(folder)]


def where_runs_are(results_root: Path) -> str:
    """What to tell somebody who looks for runs where there are none."""
    above = _runs_above(results_root)
    if above is not None:
        return (
            f"There are no runs in {results_root} here; {above / results_root} has some, so say "
            f"this in {above}."
        )
    return f"There are no runs in {results_root}; `agentv eval` makes one."


class _Started(Record, frozen=True, kw_only=True):
    started: str = ""


def _folders(root: Path) -> list[RunFolder]:
    try:
        return [RunFolder(path) for path in sorted(root.iterdir()) if path.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise SetupError(f"{root} cannot be read: {error.strerror}.") from error


def _is_run(folder: RunFolder) -> bool:
    return folder.manifest_path.is_file()


def _has_any(folder: RunFolder) -> bool:
    try:
        return any(folder.present())
    except OSError:  # Nobody can tell.
        return False


def _age(folder: RunFolder) -> tuple[str, str]:
    # Names alone would not do: a folder may have been named with --out, and two runs may have
    # begun in the same second.
    try:
        started = msgspec.json.decode(folder.manifest_path.read_bytes(), type=_Started).started
    except (OSError, ValueError):
        started = ""
    return started, folder.path.name


def _latest(runs: Sequence[RunFolder], back: int, root: Path) -> RunFolder:
    if back < len(runs):
        return runs[back]
    wanted = f"latest~{back}" if back else "latest"
    if not runs:
        raise SetupError(f"There is no run '{wanted}'. {where_runs_are(root)}")
    count = "1 run" if len(runs) == 1 else f"{len(runs)} runs"
    raise SetupError(f"There is no run '{wanted}': {root} holds {count}.")


def _advice(reference: str, runs: Sequence[RunFolder], root: Path) -> str:
    if not runs:
        return where_runs_are(root)
    names = [folder.path.name for folder in runs]
    near = get_close_matches(reference, names, n=_SHOWN, cutoff=0.6)
    if near:
        return f"Near it: {_listed(near)}."
    return f"The latest are {_listed(names)}."


def _runs_above(root: Path) -> Path | None:
    """The folder above that has runs, if somebody stands in a subfolder of a project."""
    for folder in Path.cwd().parents:
        if any(map(_is_run, _folders(folder / root))):
            return folder
        if (folder / ".git").exists():
            break
    return None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
