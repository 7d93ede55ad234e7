"""What loading knows besides the files themselves."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentv.loading.targets import Targets, load_targets
from agentv.model.base import Record
from agentv.registry import Registry


class LoadContext(Record, frozen=True, kw_only=True):
    """What was asked for, and the world as loading sees it."""

    cwd: Path
    process_env: Mapping[str, str]
    registry: Registry
    targets_path: Path | None = None
    """`--targets`; found from the suite upwards when `None`."""
    target_names: tuple[str, ...] = ()
    """`--target`; the suite's own when empty."""
    targets_needed: bool = True
    """False when the caller brings its own target."""
    evaluators: tuple[Mapping[str, Any], ...] | None = None
    """For cases that name none, in place of the suite's."""
    recorded_variables: Mapping[str, str] | None = None
    """Of a cassette that is replayed: its variables need not be set."""
    select: Callable[[str], bool] = lambda _id: True
    """Which case ids take part in the run; every case is checked all the same."""
    _targets: dict[Path, Targets] = {}

    def targets(self, path: Path) -> Targets:
        """A targets file; each is read once.

        Raises:
            LoadError: It cannot be read as YAML at all; other mistakes are in its `problems`.
        """
        if path not in self._targets:
            self._targets[path] = load_targets(path, self.cwd, self.registry)
        return self._targets[path]
