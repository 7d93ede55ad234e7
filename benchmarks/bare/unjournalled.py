"""`agentv`, save that a run writes no steps and never waits for a disk: what its journal costs.

Its rows are written as ever, since the summary is made of them.
"""

import gc
import sys
from pathlib import Path
from typing import Any

from agentv.cli.app import run
from agentv.execution import trials
from agentv.storage import journal
from agentv.storage.disk import RealDisk


class _Hasty(RealDisk):
    def sync(self, file: int) -> None:
        del file


class _Forgetful(journal.Journal):
    def __init__(self, path: Path, *arguments: Any, steps: Path, **named: Any) -> None:
        del steps
        super().__init__(path, *arguments, disk=_Hasty(), **named)


if __name__ == "__main__":
    gc.set_threshold(50_000)  # as `agentv` does
    vars(trials)["Journal"] = _Forgetful
    sys.exit(run())
