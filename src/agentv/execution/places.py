"""Where runs lie."""

from pathlib import Path

RESULTS_ROOT = Path(".agentv") / "results"
"""Below the folder that a command is given in."""


def below(cwd: Path, path: Path) -> Path:
    """A path as seen from `cwd`; relative where it was given so, so that it can be typed again."""
    return path if cwd == Path.cwd() else cwd / path
