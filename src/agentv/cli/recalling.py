"""The options of an earlier run, out of its own manifest."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentv.cli.run_eval import EvalOptions
from agentv.errors import SetupError
from agentv.loading.discover import is_found
from agentv.storage.manifest import read_manifest
from agentv.storage.run_folder import RunFolder


def recalled_options(folder: RunFolder, typed: str, **changes: Any) -> EvalOptions:
    """What the run was started with, with changes on top.

    Args:
        folder: The run's.
        typed: How the user named it.
        changes: By the names of `EvalOptions`.

    Raises:
        SetupError: It was not started on the command line, or not with what is here.
    """
    recorded = read_manifest(folder.manifest_path).arguments
    if not recorded.get("paths"):
        raise SetupError(
            f"The run {typed} was not started by `agentv eval`, so how it was started is not "
            "known; start it again where it came from."
        )
    _refuse_lost(recorded["paths"], typed)
    return EvalOptions.recalled(recorded, **changes)


def _refuse_lost(paths: Sequence[str], typed: str) -> None:
    """Suites that are called otherwise by now are found by `agentv eval`, which is told where."""
    lost = [path for path in paths if not is_found(path, Path.cwd())]
    if lost:
        are = "is" if len(lost) == 1 else "are"
        raise SetupError(
            f"The run {typed} was started with {', '.join(lost)}, which {are} not in {Path.cwd()}. "
            "Go to the folder in which it was started; or, where the suites have other names by "
            f"now, tell the run with `agentv eval PATHS --resume {typed}`."
        )


_OWN = ("out", "exports", "verbose", "as_json", "quiet")
"""What is not taken from an earlier run: the files that it wrote are its own."""
_UNSET = {
    "dump_prompts": None,
    "record": None,
    "cache": False,
    "resume": None,
    "retry_errors": False,
}
"""What a new run that comes of another never has: answers from a cache would be the same again, and
a cassette would lose what it holds. What comes of a replay is a replay."""


def options_of_new_run(
    folder: RunFolder, typed: str, given: Any, replaced: Sequence[str]
) -> EvalOptions:
    """The options of a new run that comes of an earlier one.

    Args:
        folder: The earlier run's.
        typed: How the user named it.
        given: What was typed besides.
        replaced: Names of what was typed that counts for more than what the run was started with.

    Raises:
        SetupError: It was not started on the command line.
    """
    changes = {**_UNSET, **{name: getattr(given, name) for name in _OWN}}
    changes |= {name: value for name in replaced if (value := getattr(given, name)) is not None}
    return recalled_options(folder, typed, **changes)
