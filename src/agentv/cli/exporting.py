"""The files of `--export`, written when a run is done."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentv.cli.console import print_error
from agentv.errors import ExitCode, SetupError
from agentv.exporters.base import export
from agentv.storage.rows import open_rows
from agentv.storage.run_folder import RunFolder


def export_all(folder: RunFolder, paths: Sequence[Path]) -> ExitCode | None:
    """Write every file that can be written; the exit code of the last that cannot.

    What cannot be written is said, and raises nothing: a summary must not be lost over a file.
    """
    code = None
    for path in paths:
        try:
            export(open_rows(folder.journal_path, dict[str, Any]), path)
        except SetupError as error:
            print_error(error)
            code = error.exit_code
    return code
