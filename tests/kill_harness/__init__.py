"""Runs that are killed at random and go on: what was asked, what was written down, what is equal.

    with killed_project(tmp_path, Flavour(cases=20)) as project:
        told = story(project, Random(7), Death.KILL)
        assert told.broken == []

`tests/resuming` tells a few such stories, `python -m benchmarks.kills` hundreds.
"""

from kill_harness.disks import may_mount
from kill_harness.project import Flavour, KilledProject, killed_project
from kill_harness.stories import Death, Told, story

__all__ = ["Death", "Flavour", "KilledProject", "Told", "killed_project", "may_mount", "story"]
