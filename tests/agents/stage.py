"""Runs of agents as a user runs them, each checked to leave nothing behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentv.errors import ExitCode
from agentv.testing import Outcome, Project
from processes import alive_in_environment
from story import by_id, suite, targets


@dataclass(frozen=True, kw_only=True)
class Played:
    """How a run went."""

    outcome: Outcome
    rows: dict[str, dict[str, Any]]
    """By their cases' ids."""

    @property
    def row(self) -> dict[str, Any]:
        """The only row."""
        [row] = self.rows.values()
        return row


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A project, and the folders around it."""

    project: Project
    home: Path
    """Holds what agents keep about themselves."""
    tmp: Path
    """The run's folder for temporary files."""

    def play(
        self,
        target: dict[str, Any],
        *cases: Any,
        options: Sequence[str] = (),
        others: Sequence[dict[str, Any]] = (),
        **top: Any,
    ) -> Played:
        """Run cases on a target by `agentv eval`, and look that nothing is left of it.

        Args:
            target: What is tested.
            cases: As `story.case` makes them.
            options: More arguments of the command line.
            others: More targets.
            top: More keys of the suite.
        """
        files = {"a.eval.yaml": suite(*cases, **top), "targets.yaml": targets(target, *others)}
        outcome = self.run(files, *options)
        assert outcome.code != ExitCode.USAGE, outcome.err
        return Played(outcome=outcome, rows=by_id(self.project.rows()))

    def run(self, files: Mapping[str, str], *options: str) -> Outcome:
        """Run `a.eval.yaml`, which may be one of the files, in the same way."""
        self.project.write(files)
        outcome = self.project.run("eval", "a.eval.yaml", "--max-retries", "0", *options)
        self.assert_clean()
        return outcome

    def assert_clean(self) -> None:
        """No process of the run lives, and its folder for temporary files is empty."""
        assert alive_in_environment(str(self.tmp)) == []
        assert list(self.tmp.iterdir()) == []

    def logs(self, provider: str) -> list[Path]:
        """The log files, the oldest first."""
        return sorted((self.project.folder / ".agentv" / "logs" / provider).iterdir())
